import { moment, wholeNumber } from '../command-line/forms.ts';
import { iso, makeShape } from '../command-line/report.ts';
import { option, timed } from '../command-line/words.ts';
import { type AuditRecord, type ListedCommand, openAuditLog } from './audit-log.ts';
import { command, type Noun } from './command.ts';

const record = makeShape<ListedCommand>([
  { json: 'id' },
  { json: 'at', heading: 'begun' },
  { json: 'endedAt' },
  { json: 'caller', heading: 'caller' },
  { json: 'command', heading: 'command' },
  { json: 'target', heading: 'target', text: ({ target }) => textOf(target) },
  { json: 'change', heading: 'change', text: ({ change = {} }) => textOf(change) },
  {
    json: 'outcome',
    heading: 'outcome',
    text: ({ outcome, errorName }) => (errorName === undefined ? outcome : `${outcome}: ${errorName}`),
  },
  { json: 'errorName' },
  { json: 'parts' },
]);

const list = command('audit list', {
  about: 'list commands that wrote something or showed a body, the newest first',
  notes: `
Without --since it shows the last seven days. A line names ids only: never an e-mail address, a secret or a body. A command
that is still "begun" runs, or was killed before its end. A command that failed may have done a part. Many ids are counted
here; --json shows them, and as "parts" those that did not fit in one line: of an import each user's, and each dead letter that
was moved or discarded.

Examples:
  npm run ops -- audit list
  npm run ops -- --stage prod audit list --since 90d --limit 1000`,
  given: {
    since: timed(option('<time>', 'begun from then on: 2026-11-21T09:30:00Z, or how long ago: 90m, 2h, 7d', moment)),
    limit: option('<n>', 'show at most n commands', wholeNumber(1, 10_000), 100),
  },
  effect: 'reads',
  act: async ({ target, warn }, { since = target.clock.now() - week, limit }) => {
    const found = await openAuditLog(target).list(since, limit + 1, readBackTo =>
      warn(`the trail has many lines, and was read back to ${iso(readBackTo)}: a greater --limit reads more.`),
    );
    return { since, records: found.slice(0, limit), isCutOff: found.length > limit };
  },
  report: ({ records, since, isCutOff }) =>
    record.list(`No operator changed anything since ${iso(since)}.`, isCutOff)(records),
});

export const audit: Noun = {
  name: 'audit',
  about: 'what operators changed, and whose bodies they looked at',
  commands: [list],
};

const week = 7 * 86_400_000;

function textOf(values: NonNullable<AuditRecord['change']>): string {
  const ids = Object.entries(values).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(' ') : String(value);
    return Array.isArray(value) && text.length > longestIds ? `${value.length} ${name}` : `${name} ${text}`;
  });
  return ids.join(', ') || '-';
}

/** Ids that take more characters are counted: each row of a table is as wide as the widest. */
const longestIds = 100;
