import type { Command } from 'commander';
import { fields, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import {
  isUnread,
  type KeysView,
  type Part,
  type QueueView,
  type Status,
  type TableView,
  type WebhooksView,
} from './status-view.ts';

/** Adds `status`. */
export function addStatus(program: Command, run: Run): void {
  program
    .command('status')
    .description('what is deployed, and how it does: stacks, protection, queues, alarms, failing webhooks, keys')
    .addHelpText('after', examples)
    .action((_options: unknown, command: Command) =>
      run(
        command,
        async (target, progress) => (await import('./status-actions.ts')).readStatus(target, progress),
        reportStatus,
      ),
    );
}

const examples = `
It only reads, and ends with 0 whatever it finds: "problems" in its JSON says what needs somebody. What it may not read it
leaves out, and says so. Of the webhooks it reads the first 10 MiB; "webhooks list" reads all.

Examples:
  npm run ops -- status
  npm run ops -- --stage prod status
  npm run --silent ops -- --stage prod --json status`;

/** The status as text for people and as JSON for programs. */
function reportStatus(status: Status): Report {
  const { target, region, account, stacks, checkout } = status;
  const where = [region && `in ${region}`, account && `of account ${account}`].filter(Boolean).join(' ');
  const isThere = stacks === null || stacks.some(({ state }) => state !== null);
  const sections = [
    `${target}${where && ` ${where}`}; this checkout is version ${checkout}`,
    ...(stacks ? [reportStacks(stacks)] : []),
    ...(isThere ? reportParts(status) : []),
    status.problems.length === 0
      ? 'Nothing needs you.'
      : `What needs you:\n${status.problems.map(problem => `- ${problem}`).join('\n')}`,
  ];
  return { json: status, text: sections.join('\n\n') };
}

function reportParts(status: Status): readonly string[] {
  return [
    ...(status.stacks ? [section('Tables', status.tables, reportTables)] : []),
    section('Queues', status.queues, queues => table(queues, queueColumns, 'none')),
    section('Alarms', status.alarms, ({ total, isCutOff, ringing }) => {
      const looked = isCutOff ? `the first ${total}` : `${total}`;
      if (ringing.length === 0) return `none of ${looked} rings`;
      return fields(ringing.map(({ name, since, description }) => [name, `since ${since ?? '?'}: ${description}`]));
    }),
    section('Webhooks', status.webhooks, reportWebhooks),
    section('Keys', status.keys, keys => table(keys, keyColumns, 'none')),
  ];
}

function reportStacks(stacks: NonNullable<Status['stacks']>): string {
  const columns = [
    { heading: 'STACK', cell: (stack: (typeof stacks)[number]) => stack.name },
    { heading: 'STATE', cell: (stack: (typeof stacks)[number]) => stack.state ?? 'missing' },
    { heading: 'VERSION', cell: (stack: (typeof stacks)[number]) => stack.version ?? '-' },
    { heading: 'UPDATED', cell: (stack: (typeof stacks)[number]) => stack.updatedAt ?? '-' },
    { heading: 'PROTECTED', cell: (stack: (typeof stacks)[number]) => (stack.terminationProtection ? 'yes' : 'no') },
  ];
  return table(stacks, columns, '');
}

function reportTables(tables: readonly TableView[]): string {
  const isProtected = tables.filter(({ deletionProtection }) => deletionProtection).length;
  return `${isProtected} of ${tables.length} protected from deletion`;
}

function section<Value>(title: string, part: Part<Value>, report: (value: Value) => string): string {
  return `${title}\n${isUnread(part) ? `could not be read: ${part.unread}` : report(part)}`;
}

const queueColumns = [
  { heading: 'QUEUE', cell: (queue: QueueView) => queue.queue },
  { heading: 'WAITING', cell: (queue: QueueView) => String(queue.waiting) },
  { heading: 'IN FLIGHT', cell: (queue: QueueView) => String(queue.inFlight) },
  { heading: 'DELAYED', cell: (queue: QueueView) => String(queue.delayed) },
  {
    heading: 'OLDEST',
    cell: ({ oldestSeconds }: QueueView) => (oldestSeconds === null ? '-' : `${oldestSeconds} s`),
  },
];

function reportWebhooks({ read, isCutOff, suspended, failing }: WebhooksView): string {
  const looked = isCutOff ? `the first ${read}; there are more ("webhooks list" reads all)` : `${read}`;
  const rows = [
    ...suspended.map(({ reason, ...webhook }) => ({ ...webhook, what: `suspended (${reason ?? 'unknown'})` })),
    ...failing.map(webhook => ({ ...webhook, what: 'failing' })),
  ];
  const shown = rows.slice(0, mostRows);
  const columns = [
    { heading: 'ACCOUNT', cell: (row: (typeof rows)[number]) => row.account },
    { heading: 'EVENT', cell: (row: (typeof rows)[number]) => row.event },
    { heading: 'WHAT', cell: (row: (typeof rows)[number]) => row.what },
    { heading: 'SINCE', cell: (row: (typeof rows)[number]) => row.since ?? '-' },
  ];
  return [
    `${suspended.length} suspended and ${failing.length} failing of ${looked}`,
    ...(rows.length > 0 ? [table(shown, columns, '')] : []),
    ...(rows.length > shown.length ? [`… and ${rows.length - shown.length} more (--json has them)`] : []),
  ].join('\n');
}

const keyColumns = [
  { heading: 'KIND', cell: (keys: KeysView) => keys.kind },
  { heading: 'KEYS', cell: (keys: KeysView) => String(keys.keys) },
  { heading: 'IN USE SINCE', cell: (keys: KeysView) => keys.activeSince ?? '-' },
  {
    heading: 'NEXT KEY MADE',
    cell: (keys: KeysView) => keys.nextMadeAt ?? (keys.nextActiveFrom === null ? '-' : 'already'),
  },
  { heading: 'NEXT KEY IN USE', cell: (keys: KeysView) => keys.nextActiveFrom ?? '-' },
];

/** Webhooks that the text shows. */
const mostRows = 20;
