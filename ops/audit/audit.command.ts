import { option, timed } from '../command-line/arg-spec.ts';
import { time, timeForms, wholeNumber } from '../command-line/forms.ts';
import { iso, isoSeconds, makeFormatter } from '../command-line/report.ts';
import { type AuditRecord, type CommandWithTargets, openAuditLog } from './audit-log.ts';
import { command, type Noun } from './command.ts';

const record = makeFormatter<CommandWithTargets>([
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
Without --since, the command lists the last 7 days. A line contains ids but no e-mail address, secret or body. The outcome
"started" means that the command is still running or was killed. A failed command may have made some of its changes. The text
shows a count instead of a long list of ids, and shortens long values (…). --json shows everything: "parts" contains the ids that
did not fit in one line, such as imported users and moved or discarded messages.

Examples:
  npm run ops -- audit list
  npm run ops -- --stage prod audit list --since 90d --limit 1000`,
  args: {
    since: timed(option('<time>', `list commands started since ${timeForms}`, time)),
    limit: option('<n>', 'show at most n commands', wholeNumber(1, 10_000), 100),
  },
  effect: 'reads',
  act: async ({ target, warn }, { since = target.clock.now() - week, limit }) => {
    const records = await openAuditLog(target).list(since, limit + 1, readBackTo =>
      warn(`The audit trail was only read back to ${iso(readBackTo)}. Use a larger --limit to read more.`),
    );
    return { since, records: records.slice(0, limit), isCutOff: records.length > limit };
  },
  report: ({ records, since, isCutOff }) => record.list(`No audited commands since ${iso(since)}.`, isCutOff)(records),
});

export const audit: Noun = {
  name: 'audit',
  description: 'the audit trail of commands that changed data or showed a body',
  commands: [list],
};

const week = 7 * 86_400_000;

function textOf(values: NonNullable<AuditRecord['change']>): string {
  const ids = Object.entries(values).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(' ') : String(value);
    return Array.isArray(value) && text.length > maxIdsLength ? `${value.length} ${name}` : `${name} ${text}`;
  });
  return ids.join(', ') || '-';
}

/** Longer lists of ids are shown as a count. A message id has 36 characters. */
const maxIdsLength = 36;
