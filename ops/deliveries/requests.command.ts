import { isoTime } from '../../lambdas/platform/clock.ts';
import { command, type Noun } from '../audit/command.ts';
import { moment, momentForms, requestId } from '../command-line/forms.ts';
import { iso, type Line, lines as linesOf, makeShape } from '../command-line/report.ts';
import { argument, option, timed } from '../command-line/words.ts';
import { type LoggedLine, openLogs } from '../stage/cloudwatch.ts';
import { CliError } from '../stage/operator.ts';

const examples = `
An id may begin with "-": it stands behind "--". Logs are kept as long as the stage says (logRetentionDays), and CloudWatch
charges for what it reads of them: --since searches less.

Examples:
  npm run ops -- requests find -- JKJaXmPLvHcESHA=
  npm run ops -- --stage prod requests find --since 2h -- -4LxXhH1IAMEMFA=`;

const logged = makeShape<LoggedLine>([
  { heading: 'at', value: ({ at }) => iso(at) },
  { heading: 'service', value: ({ fields }) => fields.service },
  { heading: 'level', value: ({ fields }) => fields.level },
  { heading: 'message', value: ({ fields }) => fields.message },
  { heading: 'what', value: ({ fields }) => detailsOf(fields) },
]);

/** Finds the lines of a request in the access logs and in those of the functions behind them, these the oldest first. */
export const findRequest = command('requests find', {
  about: "show a request's line in the access log, and what the function wrote of it",
  notes: examples,
  given: {
    id: argument('id', "an answer's header apigw-requestid, or requisicao of a refusal", requestId),
    since: timed(option('<time>', `search the logs back to then (default: 14 days): ${momentForms}`, moment)),
  },
  effect: 'reads',
  act: async ({ target, progress }, { id, since = target.clock.now() - searchedBack }) => {
    const logs = openLogs(target, logOutputs);
    const logSince = Math.max(await logs.keptSince(), since);
    progress(`Searching the logs since ${isoTime(logSince)}`);
    const found = (await logs.find(id, logSince, progress)).filter(({ fields }) => fields.requestId === id);
    if (found.length === 0) {
      throw new CliError(
        `no line of request "${id}" in the logs since ${isoTime(logSince)}: it came before that (--since), to another stage, or a moment ago (the logs follow within a minute or so).`,
      );
    }
    const isAccess = ({ fields }: LoggedLine) => 'sourceIp' in fields;
    const lines = found.filter(line => !isAccess(line)).toSorted((one, other) => one.at - other.at);
    return { access: found.find(isAccess), lines, logSince };
  },
  report: ({ access, lines, logSince }, { id }) => {
    const head = access ? accessOf(access) : ([['access log', 'no line of it yet']] as const);
    const text = linesOf([['request', id], ...head, ['logs searched', `back to ${iso(logSince)}`]]);
    return {
      json: {
        requestId: id,
        access: access ? { at: iso(access.at), ...access.fields } : null,
        lines: lines.map(({ at, fields }) => ({ at: iso(at), ...fields })),
        logSince: iso(logSince),
      },
      text: `${text}\n\n${logged.table(lines, 'No function wrote of it.')}`,
    };
  },
});

export const requests: Noun = {
  name: 'requests',
  about: 'requests to the token endpoint and to the API: find one',
  notes: examples,
  commands: [findRequest],
};

/** Fourteen days, in milliseconds. */
const searchedBack = 14 * 86_400_000;

/** The outputs that name the log groups of requests: of the gateway, and of the functions that answer them. */
const logOutputs = ['AccessLogGroups', 'AuthLogGroups', 'WebhooksLogGroups', 'DeliveriesApiLogGroups'];

function accessOf({ at, fields }: LoggedLine): readonly Line[] {
  const { method, path, status, latency, sourceIp, error, integrationError } = fields;
  const errors = [error, integrationError].filter(text => text !== undefined && text !== '-');
  return [
    ['at', String(iso(at))],
    ['call', `${method} ${path}`],
    ['answer', `${status} after ${latency} ms`],
    ['from', String(sourceIp)],
    ...errors.map(text => ['gateway', String(text)] as const),
  ];
}

/** Returns the other fields of a line: `status=409 code=webhook_exists`. */
function detailsOf(fields: LoggedLine['fields']): string {
  return Object.entries(fields)
    .filter(([name]) => !told.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

/** Fields that have a column of their own, or that say the same of every line of a request. */
const told = new Set(['service', 'level', 'message', 'timestamp', 'requestId', 'function_request_id']);
