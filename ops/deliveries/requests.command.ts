import type { Command } from 'commander';
import { momentBefore, momentForms, requestId } from '../command-line/option-values.ts';
import { iso, type Line, lines as linesOf, makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { LoggedLine } from '../stage/cloudwatch.ts';
import type { FoundRequest } from './requests.ts';

/** Adds `requests`. */
export function addRequests(program: Command, run: Run): void {
  const requests = program
    .command('requests')
    .description('requests to the token endpoint and to the API: find one')
    .addHelpText('after', examples);

  requests
    .command('find')
    .description("show a request's line in the access log, and what the function wrote of it")
    .argument('<id>', "an answer's header apigw-requestid, or requisicao of a refusal", requestId)
    .option('--since <time>', `search the logs back to then (default: 14 days): ${momentForms}`, momentBefore())
    .addHelpText('after', examples)
    .action(run(actions, all => all.findRequest, found));
}

const actions = () => import('./requests.ts');

const examples = `
An id may begin with "-": it stands behind "--". Logs are kept as long as the stage says (logRetentionDays), and CloudWatch
charges for what it reads of them: --since searches less.

Examples:
  npm run ops -- requests find -- JKJaXmPLvHcESHA=
  npm run ops -- --stage prod requests find --since 2h -- -4LxXhH1IAMEMFA=`;

function found({ requestId: id, access, lines, logSince }: FoundRequest): Report {
  const json = {
    requestId: id,
    access: access ? { at: iso(access.at), ...access.fields } : null,
    lines: lines.map(({ at, fields }) => ({ at: iso(at), ...fields })),
    logSince: iso(logSince),
  };
  const head = access ? accessOf(access) : ([['access log', 'no line of it yet']] as const);
  const text = linesOf([['request', id], ...head, ['logs searched', `back to ${iso(logSince)}`]]);
  return { json, text: `${text}\n\n${logged.table(lines, 'No function wrote of it.')}` };
}

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

const logged = makeShape<LoggedLine>([
  { heading: 'at', value: ({ at }) => iso(at) },
  { heading: 'service', value: ({ fields }) => fields.service },
  { heading: 'level', value: ({ fields }) => fields.level },
  { heading: 'message', value: ({ fields }) => fields.message },
  { heading: 'what', value: ({ fields }) => detailsOf(fields) },
]);

/** Returns the other fields of a line: `status=409 code=webhook_exists`. */
function detailsOf(fields: LoggedLine['fields']): string {
  return Object.entries(fields)
    .filter(([name]) => !told.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

/** Fields that have a column of their own, or that say the same of every line of a request. */
const told = new Set(['service', 'level', 'message', 'timestamp', 'requestId', 'function_request_id']);
