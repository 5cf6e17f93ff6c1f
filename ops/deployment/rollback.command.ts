import * as z from 'zod';
import { command, type Noun } from '../audit/command.ts';
import { makeShape, type Report } from '../command-line/report.ts';
import { flag, furtherArguments } from '../command-line/words.ts';
import { isUnread } from '../stage/operator.ts';
import { type MoveView, nameAsked, type Rollback, rollBack } from './rollback.ts';

const examples = `
It needs a deployed stage, and takes seconds: versions are kept, and only the alias that everything calls changes. Repeated, it
changes nothing more. It is refused during a deployment; after one that was taken back whole, the release before stays unless its
functions are named. Tables and queues stay as they are, and so do permissions.
Where that did not help, --again takes back what the release before published, and leaves the rest; with names it takes those
one more version back.
The next deployment publishes a new version of every function, and leads all of them to it.

Examples:
  npm run ops -- --stage prod rollback
  npm run ops -- --stage prod rollback Token --yes`;

const move = makeShape<MoveView>([
  { json: 'function', heading: 'function' },
  { json: 'from', heading: 'from' },
  { json: 'fromPublishedAt', heading: 'published' },
  { json: 'to', heading: 'to' },
  { json: 'toPublishedAt', heading: 'published' },
  { json: 'missingGrants' },
]);

const functionName = z.string().regex(/^[A-Za-z]\w{0,63}$/, 'It must be the name of a function, such as Token.');

export const rollback: Noun = {
  name: 'rollback',
  commands: [
    command('rollback', {
      about:
        'lead functions back to the version before, at once: all that the latest deployment published, or those named',
      notes: examples,
      given: {
        functions: furtherArguments(
          'function',
          'names of functions, such as Token, as docs/permissions.md has them',
          functionName,
        ),
        again: flag('go on from a roll-back: what the release before published, or those named, one more version back'),
      },
      effect: 'writes',
      act: (task, { functions, again = false }) => rollBack(task, { names: [...new Set(functions)], again }),
      subject: ({ target }, { functions, again = false }) => nameAsked(target, { names: functions, again }),
      report: reportRollback,
    }),
  ],
};

function reportRollback({ stage, moved, already, stuck }: Rollback): Report {
  const missing = moved.flatMap(({ function: name, to, missingGrants: grants }) =>
    isUnread(grants) || grants.length === 0 ? [] : [`- ${name} ${to}: ${grants.join(', ')}`],
  );
  const unread = moved.flatMap(({ missingGrants: grants }) => (isUnread(grants) ? [grants.unread] : []));
  const sections = [
    ...(moved.length > 0 ? [move.table(moved, '')] : []),
    ...(already.length > 0
      ? [
          `Rolled back before, and not changed: ${already.join(', ')}. Where that did not help: "rollback --again" takes back what the release before published, "rollback --again ${already.join(' ')}" these one more version.`,
        ]
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
