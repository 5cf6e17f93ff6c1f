import type { Command } from 'commander';
import { momentBefore, wholeNumber } from '../command-line/option-values.ts';
import { iso, makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { AuditTrail } from './audit-list.ts';
import type { AuditRecord } from './audit-log.ts';

/** Adds `audit`. */
export function addAudit(program: Command, run: Run): void {
  const audit = program.command('audit').description('what operators changed, and whose bodies they looked at');

  audit
    .command('list')
    .description('list commands that wrote something or showed a body, the newest first')
    .option('--since <time>', 'begun from then on: 2026-11-21T09:30:00Z, or how long ago: 90m, 2h, 7d', momentBefore())
    .option('--limit <n>', 'show at most n commands', wholeNumber(1, 10_000), 100)
    .addHelpText('after', examples)
    .action(run(actions, all => all.listAudit, listed));
}

const actions = () => import('./audit-list.ts');

const examples = `
Without --since it shows the last seven days. A line names ids only: never an e-mail address, a secret or a body. A command
that is still "begun" runs, or was killed before its end. A command that failed may have done a part.

Examples:
  npm run ops -- audit list
  npm run ops -- --stage prod audit list --since 90d --limit 1000`;

const record = makeShape<AuditRecord>([
  { json: 'id', value: ({ id }) => id },
  { json: 'at', heading: 'begun', value: ({ at }) => at },
  { json: 'endedAt', value: ({ endedAt }) => endedAt },
  { json: 'caller', heading: 'caller', value: ({ caller }) => caller },
  { json: 'command', heading: 'command', value: ({ command }) => command },
  { json: 'target', heading: 'target', value: ({ target }) => target, text: ({ target }) => textOf(target) },
  { json: 'change', heading: 'change', value: ({ change }) => change, text: ({ change = {} }) => textOf(change) },
  { json: 'of', value: ({ of }) => of },
  {
    json: 'outcome',
    heading: 'outcome',
    value: ({ outcome }) => outcome,
    text: ({ outcome, errorName, of }) =>
      errorName === undefined ? `${outcome}${of === undefined ? '' : ', a part'}` : `${outcome}: ${errorName}`,
  },
  { json: 'errorName', value: ({ errorName }) => errorName },
]);

function listed({ records, since, limit, isCutOff }: AuditTrail): Report {
  const { json, text } = record.list(`No operator changed anything since ${iso(since)}.`)(records);
  const more = isCutOff ? `\n\nThese are the latest ${limit}: --limit shows more.` : '';
  return { json, text: text + more };
}

function textOf(values: NonNullable<AuditRecord['change']>): string {
  const ids = Object.entries(values).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.join(' ') : value}`,
  );
  return ids.join(', ') || '-';
}
