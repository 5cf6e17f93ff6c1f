import { command, type Noun } from '../audit/command.ts';
import { counted } from '../stage/sentences.ts';
import { findBeforeDeployment } from './preflight.ts';
import { synthesise } from './synthesis.ts';

const notes = `
The command only reads. The exit code is 0 if it finds no problem, and 1 otherwise. It lists the checks that it could not run.

Examples:
  npm run ops -- --stage prod preflight
  npm run --silent ops -- --stage prod --json preflight`;

const findProblems = command('preflight', {
  description: 'find problems that would make a stage deployment fail or lose data',
  notes,
  effect: 'reads',
  act: ({ target, progress }) => findBeforeDeployment(target, synthesise, progress),
  report: found => {
    const { stage, account, region, problems, unread } = found;
    const lines = [
      `stage ${stage} in ${region} of account ${account}`,
      ...problems.map(({ check, sentence }) => `- ${check}: ${sentence}`),
      ...unread.map(({ check, sentence }) => `- ${check}: the check could not run: ${sentence}`),
    ];
    if (problems.length > 0) {
      const failure = `Do not deploy stage ${stage} yet. ${counted(problems.length, 'problem')} found.`;
      return { json: found, text: lines.join('\n'), failure };
    }
    return {
      json: found,
      text: [...lines, `No problems found. Next, run: npx cdk deploy --all -c stage=${stage}`].join('\n'),
    };
  },
});

export const preflight: Noun = { name: 'preflight', commands: [findProblems] };
