import { type Command, InvalidArgumentError } from 'commander';
import { makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import { isUnread } from '../stage/operator.ts';
import type { MoveView, Rollback } from './rollback.ts';

/** Adds `rollback`. */
export function addRollback(program: Command, run: Run): void {
  program
    .command('rollback')
    .description(
      'lead functions back to the version before, at once: all that the latest deployment published, or those named',
    )
    .argument('[function...]', 'names of functions, such as Token, as docs/permissions.md has them', functionNames)
    .option('--again', 'take those that are rolled back already one more version back')
    .addHelpText('after', examples)
    .action(run(actions, all => all.rollBack, reportRollback));
}

const actions = () => import('./rollback.ts');

const examples = `
It needs a deployed stage, and takes seconds: versions are kept, and only the alias that everything calls changes. Repeated, it
changes nothing more. It is refused during a deployment. Tables and queues stay as they are, and so do permissions.
The next deployment publishes a new version of every function, and leads all of them to it.

Examples:
  npm run ops -- --stage prod rollback
  npm run ops -- --stage prod rollback Token --yes`;

function functionNames(value: string, before: readonly string[] = []): readonly string[] {
  if (/^[A-Za-z]\w{0,63}$/.test(value)) return [...new Set([...before, value])];
  throw new InvalidArgumentError('It must be the name of a function, such as Token.');
}

const move = makeShape<MoveView>([
  { json: 'function', heading: 'function', value: ({ function: name }) => name },
  { json: 'from', heading: 'from', value: ({ from }) => from },
  { json: 'fromPublishedAt', heading: 'published', value: ({ fromPublishedAt }) => fromPublishedAt },
  { json: 'to', heading: 'to', value: ({ to }) => to },
  { json: 'toPublishedAt', heading: 'published', value: ({ toPublishedAt }) => toPublishedAt },
  { json: 'missingGrants', value: ({ missingGrants }) => missingGrants },
]);

function reportRollback({ stage, moved, already, stuck }: Rollback): Report {
  const missing = moved.flatMap(({ function: name, to, missingGrants: grants }) =>
    isUnread(grants) || grants.length === 0 ? [] : [`- ${name} ${to}: ${grants.join(', ')}`],
  );
  const unread = moved.flatMap(({ missingGrants: grants }) => (isUnread(grants) ? [grants.unread] : []));
  const sections = [
    ...(moved.length > 0 ? [move.table(moved, '')] : []),
    ...(already.length > 0
      ? [`Rolled back before, and not changed: ${already.join(', ')}. --again takes them further back.`]
      : []),
    ...(stuck.length > 0 ? [`No version to go back to, and not changed: ${stuck.join(', ')}.`] : []),
    ...(missing.length > 0
      ? [`Named by the older version, without any grant in its role of today:\n${missing.join('\n')}`]
      : []),
    ...(unread.length > 0 ? [`Which grants are missing could not be read: ${unread[0]}`] : []),
    ...(moved.length > 0 && missing.length + unread.length === 0
      ? [
          'The roles have grants on everything that the older versions name. Whether on each action that they use, only their commit tells: compare docs/permissions.md.',
        ]
      : []),
    `Next: npm run smoke -- --stage ${stage}. The next deployment leads every function to a new version.`,
  ];
  return { json: { stage, moved: moved.map(move.json), already, stuck }, text: sections.join('\n\n') };
}
