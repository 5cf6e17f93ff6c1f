import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import { command, type Noun } from '../audit/command.ts';
import { lines, makeFormatter, type Report } from '../command-line/report.ts';
import { withEnglishName } from '../deliveries/state-words.ts';
import type { MovedAlias } from '../deployment/live-functions.ts';
import { isCutOff, isUnread, type Part } from '../stage/operator.ts';
import { counted, tableOrIndexName } from '../stage/sentences.ts';
import type { Certificate, ThrottledCalls } from './aws-view.ts';
import { findProblems } from './checks.ts';
import type { OverdueGroup } from './overdue-deliveries.ts';
import type { DeliveriesView } from './status-deliveries.ts';
import {
  type Facts,
  type KeysView,
  type QueueView,
  readFacts,
  type StackView,
  type WebhooksView,
} from './status-facts.ts';

const examples = `
The command only reads. The exit code is 0 even if there are problems. The JSON lists them in "problems". It reports the parts
that it could not read. It reads the first 10 MiB of webhooks ("webhooks list" reads all) and counts up to about 50,000
undelivered deliveries ("deliveries list" counts all). Of the 1,000 deliveries that are due next, it shows the ones that are
overdue by at least 3 minutes, by account, event and cause. It reports if there are more.

Examples:
  npm run ops -- status
  npm run ops -- --stage prod status
  npm run --silent ops -- --stage prod --json status`;

/** The state of a target and its problems. */
export interface Status extends Facts {
  /** A sentence with advice about each problem. */
  readonly problems: readonly string[];
}

/** Reads the state of a target and finds its problems, with a bounded number of reads. */
const readStatus = command('status', {
  description:
    'show the state and the problems of a deployment: stacks, throttled tables, KMS key, certificates, alarm recipients, aliases, queues, alarms, webhooks, failed and overdue deliveries, keys',
  notes: examples,
  effect: 'reads',
  act: async ({ target, progress }): Promise<Status> => {
    const facts = await readFacts(target, progress);
    return { ...facts, problems: findProblems(facts, target.deployed, target.clock.now()) };
  },
  report: reportStatus,
});

export const status: Noun = { name: 'status', commands: [readStatus] };

/** Returns the status as text for people and as JSON for programs. */
export function reportStatus(status: Status): Report {
  const { target, region, account, stacks, checkout, problems } = status;
  const where = [region && `in ${region}`, account && `of account ${account}`].filter(Boolean).join(' ');
  const exists = stacks === null || stacks.some(({ state }) => state !== null);
  const sections = [
    `${target}${where && ` ${where}`}; this checkout is version ${checkout}`,
    ...(stacks ? [stackFormatter.table(stacks, '')] : []),
    ...(exists ? reportParts(status) : []),
    problems.length === 0 ? noProblems(status) : `Problems:\n${problems.map(problem => `- ${problem}`).join('\n')}`,
  ];
  return { json: { ...status }, text: sections.join('\n\n') };
}

/** Returns the sentence for a status without problems, with the number of parts that were not read completely. */
function noProblems(status: Status): string {
  const [unread, cutOff] = [isUnread, isCutOff].map(is => Object.values(status).filter(is).length);
  const where = unread || cutOff ? ' in the parts that were read' : '';
  const missing = unread ? ` ${counted(unread, 'part')} could not be read.` : '';
  return `No problems found${where}.${missing}${cutOff ? ` ${counted(cutOff, 'part was', 'parts were')} read only partly.` : ''}`;
}

function reportParts(status: Status): readonly string[] {
  const ofStage = [
    section('Tables', status.tables, tables => {
      const isProtected = tables.filter(({ deletionProtection }) => deletionProtection).length;
      return `${isProtected} of ${tables.length} protected from deletion`;
    }),
    section('Throttled', status.throttles, found => throttleFormatter.table(found, 'nothing')),
    section('KMS key', status.kmsKey, key =>
      key === null ? 'none' : key.deletedAt === null ? key.state : `${key.state} until ${key.deletedAt}`,
    ),
    section('Certificates', status.certificates, found => certificateFormatter.table(found, 'no custom domain')),
    section('Alarm recipients', status.recipients, found =>
      found.length === 0
        ? 'none'
        : lines(found.map(({ mail, address, state }) => [`${mail}s`, `${address}: ${state}`])),
    ),
    section('Aliases', status.movedAliases, found =>
      movedFormatter.table(found, 'all point to the version of the last deployment'),
    ),
  ];
  return [
    ...(status.stacks ? ofStage : []),
    section('Queues', status.queues, queues => queueFormatter.table(queues, 'none')),
    section('Alarms', status.alarms, ({ total, isCutOff, firing }) => {
      const among = isCutOff ? `the first ${total}` : `${total}`;
      if (firing.length === 0) return `none of ${among} is firing`;
      return lines(firing.map(({ name, since, description }) => [name, `since ${since ?? '?'}: ${description}`]));
    }),
    section('Webhooks', status.webhooks, reportWebhooks),
    section('Deliveries', status.deliveries, reportDeliveries),
    section('Keys', status.keys, keys => keyFormatter.table(keys, 'none')),
  ];
}

function section<Value>(title: string, part: Part<Value>, report: (value: Value) => string): string {
  return `${title}\n${isUnread(part) ? `could not be read: ${part.unread}` : report(part)}`;
}

function reportWebhooks({ suspended, failing, read, isCutOff }: WebhooksView): string {
  const among = isCutOff ? `the first ${read}; there are more ("webhooks list" reads all)` : `${read}`;
  const rows: readonly WebhookRow[] = [
    ...suspended.map(found => ({
      ...found,
      since: null,
      what: `suspended: ${withEnglishName(wireReasons, found.reason ?? '-')}`,
    })),
    ...failing.map(webhook => ({ ...webhook, what: 'failing' })),
  ];
  return [
    `${suspended.length} suspended and ${failing.length} failing of ${among}`,
    ...firstRows(webhookFormatter, rows),
  ].join('\n');
}

function reportDeliveries({ failed, held, late, read, isCutOff }: DeliveriesView): string {
  const sum = (found: readonly { readonly count: number }[]) => found.reduce((total, { count }) => total + count, 0);
  const among = isCutOff
    ? `the first ${read} undelivered deliveries; there are more`
    : `${read} undelivered deliveries`;
  return [
    `${sum(failed)} failed and ${sum(held)} held of ${among}`,
    ...(late.isCutOff ? ['not all pending deliveries were read, so more may be overdue'] : []),
    ...firstRows(overdueFormatter, late.groups),
  ].join('\n');
}

/** Returns a table of the first rows, followed by the number of further rows. */
function firstRows<Row>(formatter: ReturnType<typeof makeFormatter<Row>>, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const others = rows.length - maxRows;
  const table = formatter.table(rows.slice(0, maxRows), '');
  return others > 0 ? [table, `… and ${others} more (--json shows them)`] : [table];
}

const stackFormatter = makeFormatter<StackView>([
  { heading: 'stack', value: ({ name }) => name },
  { heading: 'state', value: ({ state }) => state ?? 'missing' },
  { heading: 'version', value: ({ version }) => version },
  { heading: 'release', value: ({ release }) => release },
  { heading: 'updated', value: ({ updatedAt }) => updatedAt },
  { heading: 'protected', value: ({ terminationProtection }) => (terminationProtection ? 'yes' : 'no') },
]);

const throttleFormatter = makeFormatter<ThrottledCalls>([
  { heading: 'table, index', value: tableOrIndexName },
  { heading: 'in 15 minutes', value: ({ count, calls }) => `${count} ${calls}` },
  { heading: 'cause', value: ({ cause }) => cause },
]);

const certificateFormatter = makeFormatter<Certificate>([
  { heading: 'host', value: ({ host }) => host },
  { heading: 'state', value: ({ state }) => state },
  { heading: 'expires', value: ({ endsAt }) => endsAt },
  { heading: 'days left', value: ({ daysLeft }) => daysLeft },
]);

const movedFormatter = makeFormatter<MovedAlias>([
  { heading: 'function', value: ({ function: name }) => name },
  { heading: 'version', value: ({ version }) => version },
  { heading: 'deployed', value: ({ deployedVersion }) => deployedVersion },
  { heading: 'shifting to', value: ({ sharing }) => sharing.join(', ') },
]);

const queueFormatter = makeFormatter<QueueView>([
  { heading: 'queue', value: ({ queue }) => queue },
  { heading: 'waiting', value: ({ waiting }) => waiting },
  { heading: 'in flight', value: ({ inFlight }) => inFlight },
  { heading: 'delayed', value: ({ delayed }) => delayed },
  { heading: 'oldest', value: ({ oldestSeconds }) => (oldestSeconds === null ? '-' : `${oldestSeconds} s`) },
]);

interface WebhookRow {
  readonly account: string;
  readonly event: string;
  readonly what: string;
  readonly since: string | null;
}

const webhookFormatter = makeFormatter<WebhookRow>([
  { heading: 'account', value: ({ account }) => account },
  { heading: 'event', value: ({ event }) => event },
  { heading: 'state', value: ({ what }) => what },
  { heading: 'since', value: ({ since }) => since },
]);

const overdueFormatter = makeFormatter<OverdueGroup>([
  { heading: 'account', value: ({ account }) => account },
  { heading: 'event', value: ({ event }) => event },
  { heading: 'cause', value: ({ cause }) => cause },
  { heading: 'deliveries', value: ({ count }) => String(count) },
  { heading: 'since', value: ({ since }) => since },
]);

const keyFormatter = makeFormatter<KeysView>([
  { heading: 'kind', value: ({ kind }) => kind },
  { heading: 'keys', value: ({ keys }) => keys },
  { heading: 'in use since', value: ({ activeSince }) => activeSince },
  {
    heading: 'next key created',
    value: ({ nextCreatedAt, nextActiveFrom }) => nextCreatedAt ?? (nextActiveFrom === null ? '-' : 'already'),
  },
  { heading: 'next key in use', value: ({ nextActiveFrom }) => nextActiveFrom },
]);

/** The maximum number of rows in a table of the text output. */
const maxRows = 20;
