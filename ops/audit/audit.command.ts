import { option, timed } from '../command-line/arg-spec.ts';
import { moment, wholeNumber } from '../command-line/forms.ts';
import { iso, isoSeconds, makeShape } from '../command-line/report.ts';
import { type AuditRecord, type ListedCommand, openAuditLog } from './audit-log.ts';
import { command, type Noun } from './command.ts';

const record = makeShape<ListedCommand>([
  { json: 'id' },
  { json: 'at', heading: 'started', text: ({ at }) => isoSeconds(at) },
  { json: 'endedAt' },
  { json: 'caller', heading: 'caller', text: ({ caller }) => caller.replace(/^.*[/:]/, ''), width: 18 },
  { json: 'command', heading: 'command', width: 21 },
  { json: 'target' },
  { json: 'change' },
  {
    heading: 'target and change',
    value: ({ target, change }) => textOf({ ...target, ...change }),
    width: 46,
  },
  { json: 'outcome', heading: 'outcome' },
  { json: 'errorName' },
  { json: 'parts' },
]);

const list = command('audit list', {
  description: 'list the commands that changed data or showed a body, newest first',
  notes: `
Without --since it shows the last 7 days. A line has ids only: never an e-mail address, a secret or a body. The outcome
"started" means that the command is still running or was killed. A command that failed may have made some of its changes.
The text shows the number of ids if there are many, and shortens long values (…). --json shows everything; its "parts" have
the ids that did not fit in one line, such as each imported user and each message that was moved or discarded.

Examples:
  npm run ops -- audit list
  npm run ops -- --stage prod audit list --since 90d --limit 1000`,
  given: {
    since: timed(option('<time>', 'started since then: 2026-11-21T09:30:00Z, or how long ago: 90m, 2h, 7d', moment)),
    limit: option('<n>', 'show at most n commands', wholeNumber(1, 10_000), 100),
  },
  effect: 'reads',
  act: async ({ target, warn }, { since = target.clock.now() - week, limit }) => {
    const found = await openAuditLog(target).list(since, limit + 1, readBackTo =>
      warn(`The audit trail has many lines and was read back to ${iso(readBackTo)} only. A larger --limit reads more.`),
    );
    return { since, records: found.slice(0, limit), isCutOff: found.length > limit };
  },
  report: ({ records, since, isCutOff }) => record.list(`No audited command since ${iso(since)}.`, isCutOff)(records),
});

export const audit: Noun = {
  name: 'audit',
  description: 'what operators changed, and whose bodies they read',
  commands: [list],
};

const week = 7 * 86_400_000;

function textOf(values: NonNullable<AuditRecord['change']>): string {
  const ids = Object.entries(values).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(' ') : String(value);
    return Array.isArray(value) && text.length > maxIds ? `${value.length} ${name}` : `${name} ${text}`;
  });
  return ids.join(', ') || '-';
}

/** Longer lists of ids are shown as a count. A message id has 36 characters. */
const maxIds = 36;
