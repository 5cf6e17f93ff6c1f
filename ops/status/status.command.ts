import { command, type Noun } from '../audit/command.ts';
import { lines, makeShape, type Report } from '../command-line/report.ts';
import type { MovedAlias } from '../deployment/live-functions.ts';
import { isCutOff, isUnread, type Part } from '../stage/operator.ts';
import type { Certificate, Throttle } from './aws-view.ts';
import { findProblems } from './checks.ts';
import type { LateGroup } from './late-deliveries.ts';
import { counted, placeOf } from './sentences.ts';
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
It only reads, and ends with 0 whatever it finds: "problems" in its JSON says what needs somebody. What it may not read it
leaves out, and says so. Of the webhooks it reads the first 10 MiB; "webhooks list" reads all.
Of the deliveries it counts some 50,000 that are not delivered; "deliveries list" counts all. It shows those that are late by
three minutes by account, event and cause, among 1,000 whose turn is next, and says where there are more.

Examples:
  npm run ops -- status
  npm run ops -- --stage prod status
  npm run --silent ops -- --stage prod --json status`;

/** The facts, and what needs somebody. */
export interface Status extends Facts {
  /** Each in a sentence with what to do. */
  readonly problems: readonly string[];
}

/** Reads what is deployed of a target, how it does, and what needs somebody. It writes nothing, and its reads are bounded. */
const readStatus = command('status', {
  about:
    'what is deployed, and how it does: stacks, throttled tables, KMS keys, certificates, recipients of alarms, aliases, queues, alarms, webhooks, failed and late deliveries, keys',
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
  const isThere = stacks === null || stacks.some(({ state }) => state !== null);
  const sections = [
    `${target}${where && ` ${where}`}; this checkout is version ${checkout}`,
    ...(stacks ? [stackShape.table(stacks, '')] : []),
    ...(isThere ? reportParts(status) : []),
    problems.length === 0
      ? nothingNeeded(status)
      : `What needs you:\n${problems.map(problem => `- ${problem}`).join('\n')}`,
  ];
  return { json: { ...status }, text: sections.join('\n\n') };
}

/** Returns the verdict where no problem was found, which is of what was read alone. */
function nothingNeeded(status: Status): string {
  const [unread, cutOff] = [isUnread, isCutOff].map(is => Object.values(status).filter(is).length);
  const what = unread || cutOff ? 'Nothing that was read' : 'Nothing';
  const lacks = unread ? ` ${counted(unread, 'part')} could not be read.` : '';
  return `${what} needs you.${lacks}${cutOff ? ` Of ${counted(cutOff, 'part')} there is more.` : ''}`;
}

function reportParts(status: Status): readonly string[] {
  const ofStage = [
    section('Tables', status.tables, tables => {
      const isProtected = tables.filter(({ deletionProtection }) => deletionProtection).length;
      return `${isProtected} of ${tables.length} protected from deletion`;
    }),
    section('Throttled', status.throttles, found => throttleShape.table(found, 'nothing')),
    section('KMS key', status.kmsKey, key =>
      key === null ? 'none' : key.deletedAt === null ? key.state : `${key.state} until ${key.deletedAt}`,
    ),
    section('Certificates', status.certificates, found => certificateShape.table(found, 'no domain has one')),
    section('Recipients of alarms', status.recipients, found =>
      found.length === 0
        ? 'the stage names none'
        : lines(found.map(({ mail, address, state }) => [`${mail}s`, `${address}: ${state}`])),
    ),
    section('Aliases', status.movedAliases, found =>
      movedShape.table(found, 'each points to the version of the last deployment'),
    ),
  ];
  return [
    ...(status.stacks ? ofStage : []),
    section('Queues', status.queues, queues => queueShape.table(queues, 'none')),
    section('Alarms', status.alarms, ({ total, isCutOff, ringing }) => {
      const looked = isCutOff ? `the first ${total}` : `${total}`;
      if (ringing.length === 0) return `none of ${looked} rings`;
      return lines(ringing.map(({ name, since, description }) => [name, `since ${since ?? '?'}: ${description}`]));
    }),
    section('Webhooks', status.webhooks, reportWebhooks),
    section('Deliveries', status.deliveries, reportDeliveries),
    section('Keys', status.keys, keys => keyShape.table(keys, 'none')),
  ];
}

function section<Value>(title: string, part: Part<Value>, report: (value: Value) => string): string {
  return `${title}\n${isUnread(part) ? `could not be read: ${part.unread}` : report(part)}`;
}

function reportWebhooks({ suspended, failing, read, isCutOff }: WebhooksView): string {
  const among = isCutOff ? `the first ${read}; there are more ("webhooks list" reads all)` : `${read}`;
  const rows: readonly WebhookRow[] = [
    ...suspended.map(found => ({ ...found, since: null, what: `suspended (${found.reason ?? 'unknown'})` })),
    ...failing.map(webhook => ({ ...webhook, what: 'failing' })),
  ];
  return [
    `${suspended.length} suspended and ${failing.length} failing of ${among}`,
    ...firstRows(webhookShape, rows),
  ].join('\n');
}

function reportDeliveries({ failed, held, late, looked, isCutOff }: DeliveriesView): string {
  const sum = (found: readonly { readonly count: number }[]) => found.reduce((total, { count }) => total + count, 0);
  const among = isCutOff
    ? `the first ${looked} that are not delivered; there are more`
    : `${looked} that are not delivered`;
  return [
    `${sum(failed)} failed and ${sum(held)} held of ${among}`,
    ...(late.isCutOff ? ['not all that waits could be read: more may be late'] : []),
    ...firstRows(lateShape, late.groups),
  ].join('\n');
}

/** Returns a table of the first rows, and how many more there are. */
function firstRows<Row>(shape: ReturnType<typeof makeShape<Row>>, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const others = rows.length - mostRows;
  const table = shape.table(rows.slice(0, mostRows), '');
  return others > 0 ? [table, `… and ${others} more (--json has them)`] : [table];
}

const stackShape = makeShape<StackView>([
  { heading: 'stack', value: ({ name }) => name },
  { heading: 'state', value: ({ state }) => state ?? 'missing' },
  { heading: 'version', value: ({ version }) => version },
  { heading: 'release', value: ({ release }) => release },
  { heading: 'updated', value: ({ updatedAt }) => updatedAt },
  { heading: 'protected', value: ({ terminationProtection }) => (terminationProtection ? 'yes' : 'no') },
]);

const throttleShape = makeShape<Throttle>([
  { heading: 'table, index', value: placeOf },
  { heading: 'in 15 minutes', value: ({ count, calls }) => `${count} ${calls}` },
  { heading: 'cause', value: ({ cause }) => cause },
]);

const certificateShape = makeShape<Certificate>([
  { heading: 'host', value: ({ host }) => host },
  { heading: 'state', value: ({ state }) => state },
  { heading: 'ends', value: ({ endsAt }) => endsAt },
  { heading: 'days left', value: ({ daysLeft }) => daysLeft },
]);

const movedShape = makeShape<MovedAlias>([
  { heading: 'function', value: ({ function: name }) => name },
  { heading: 'version', value: ({ version }) => version },
  { heading: 'deployed', value: ({ deployedVersion }) => deployedVersion },
  { heading: 'shifting to', value: ({ sharing }) => sharing.join(', ') },
]);

const queueShape = makeShape<QueueView>([
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

const webhookShape = makeShape<WebhookRow>([
  { heading: 'account', value: ({ account }) => account },
  { heading: 'event', value: ({ event }) => event },
  { heading: 'what', value: ({ what }) => what },
  { heading: 'since', value: ({ since }) => since },
]);

const lateShape = makeShape<LateGroup>([
  { heading: 'account', value: ({ account }) => account },
  { heading: 'event', value: ({ event }) => event },
  { heading: 'why late', value: ({ cause }) => cause },
  { heading: 'deliveries', value: ({ count }) => String(count) },
  { heading: 'since', value: ({ since }) => since },
]);

const keyShape = makeShape<KeysView>([
  { heading: 'kind', value: ({ kind }) => kind },
  { heading: 'keys', value: ({ keys }) => keys },
  { heading: 'in use since', value: ({ activeSince }) => activeSince },
  {
    heading: 'next key made',
    value: ({ nextMadeAt, nextActiveFrom }) => nextMadeAt ?? (nextActiveFrom === null ? '-' : 'already'),
  },
  { heading: 'next key in use', value: ({ nextActiveFrom }) => nextActiveFrom },
]);

/** Rows of a table that the text shows. */
const mostRows = 20;
