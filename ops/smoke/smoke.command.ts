import { smokeAccount } from '../../lambdas/auth/principals/account.ts';
import { longestStepsMs, type Step } from '../../lambdas/smoke/step-record.ts';
import { command, type Noun } from '../audit/command.ts';
import { wholeNumber } from '../command-line/forms.ts';
import { printable } from '../command-line/report.ts';
import type { Streams } from '../command-line/terminal.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { forPrograms, option } from '../command-line/words.ts';
import { removeAll, rotateCredentials, testStage } from './smoke.ts';

const examples = `
It works as an integrator does: at the public URLs, with a client and a user of the account _smoke. They are made for the test and
deleted afterwards, with the webhook and the session; also when the test fails or is ended with Ctrl-C. What a test left behind
that was killed is removed by one that begins at least eight minutes later. It ends with 0 if the test passed.

Examples:
  npm run smoke -- --stage dev
  npm run ops -- --stage prod smoke --timeout 30
  npm run --silent ops -- --stage prod --json smoke
  npm run ops -- --stage prod smoke rotate-credentials    # of the scheduled test (smokeSchedule)
  npm run ops -- --stage dev smoke remove --yes           # before "cdk destroy"`;

const rotate = command('smoke rotate-credentials', {
  about: 'give the scheduled test another client and user; the first time, its first ones',
  effect: 'writes',
  act: rotateCredentials,
  subject: () => ({ account: smokeAccount }),
  report: ({ clientId, username, parameter, removed: before }) => {
    const others = before === 0 ? '' : ' The ones before are deleted.';
    return {
      json: { clientId, username, parameter },
      text: `The scheduled test uses client ${clientId} and user ${username} from its next run on.${others} Their secrets stand in ${parameter} only.`,
    };
  },
});

const remove = command('smoke remove', {
  about: 'remove all that smoke tests keep on a stage: before the stage is destroyed',
  effect: 'writes',
  act: removeAll,
  report: removed => ({
    json: { removed },
    text: removed.length === 0 ? 'There was nothing to remove.' : `Removed ${removed.join(', ')}.`,
  }),
});

export function smoke({ stdout, interruption }: Pick<Streams, 'stdout' | 'interruption'>): Noun {
  const test = command('smoke', {
    about: 'test the whole service: log in, register a webhook, publish an event, receive it; and tidy up',
    notes: examples,
    given: {
      timeout: option(
        '<seconds>',
        'how long the test may take, without tidying up',
        wholeNumber(5, longestStepsMs / 1_000),
        60,
      ),
      isQuiet: forPrograms,
    },
    effect: 'writes',
    act: (task, { timeout, isQuiet }) => {
      const onStep = (step: Step) => {
        if (!isQuiet) stdout.write(`${lineOf(step)}\n`);
      };
      const act = (signal: AbortSignal) => testStage(task, { timeout, onStep, interruption: signal });
      return untilInterrupted(act, task.tell, interruption);
    },
    subject: () => ({ account: smokeAccount }),
    report: ({ steps, durationMs, deliveryId }, _given, { label }) => ({
      json: { passed: true, durationMs, deliveryId, steps },
      text: `PASSED: ${label} delivered an event to its receiver; everything took ${(durationMs / 1_000).toFixed(1)} s.`,
    }),
  });
  return { name: 'smoke', commands: [test, rotate, remove] };
}

function lineOf({ name, durationMs, outcome, detail }: Step): string {
  const state = outcome === 'failed' ? 'FAILED: ' : '';
  return `${name.padEnd(15)} ${`${durationMs}`.padStart(6)} ms  ${state}${printable(detail)}`;
}
