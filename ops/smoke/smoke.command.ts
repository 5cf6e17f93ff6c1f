import { smokeAccount } from '../../lambdas/auth/principals/account.ts';
import { maxStepsMs, type Step } from '../../lambdas/smoke/smoke-test.ts';
import { command, type Noun } from '../audit/command.ts';
import { jsonOutput, option } from '../command-line/arg-spec.ts';
import { wholeNumber } from '../command-line/forms.ts';
import type { Streams } from '../command-line/terminal.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { removeIdentity, rotateCredentials, testStage } from './smoke.ts';

const examples = `
The test uses the public URLs, as an integrator does, with a client and a user of the account _smoke. The first test of a
stage creates the client and the user and stores them in Parameter Store. On a local run, each test creates new ones. The test
deletes its webhook at the end, even if it fails or is stopped with Ctrl-C. If two tests run at the same time, the later test
may fail. The exit code is 0 if the test passed.

Examples:
  npm run smoke -- --stage dev
  npm run ops -- --stage prod smoke --timeout 30
  npm run --silent ops -- --stage prod --json smoke
  npm run ops -- --stage prod smoke rotate-credentials
  npm run ops -- --stage dev smoke remove --yes           # before "cdk destroy"`;

const rotate = command('smoke rotate-credentials', {
  description: 'replace the client and the user of smoke tests',
  effect: 'writes',
  act: rotateCredentials,
  subject: () => ({ account: smokeAccount }),
  report: ({ clientId, username, parameter, hasReplaced }) => ({
    json: { clientId, username, parameter },
    text: `Smoke tests now use client ${clientId} and user ${username}. Their secrets are stored only in ${parameter}.${hasReplaced ? ' The previous client and user are deleted.' : ''}`,
  }),
});

const remove = command('smoke remove', {
  description: 'delete the smoke-test client, user and parameter; run this before you destroy the stage',
  effect: 'writes',
  act: removeIdentity,
  report: removed => ({
    json: { removed },
    text: removed.length === 0 ? 'There was nothing to remove.' : `Removed ${removed.join(', ')}.`,
  }),
});

export function smoke({ stdout, interruption }: Pick<Streams, 'stdout' | 'interruption'>): Noun {
  const test = command('smoke', {
    description: 'test the whole service: log in, register a webhook, publish an event, receive it',
    notes: examples,
    args: {
      timeout: option('<seconds>', 'maximum duration of the test', wholeNumber(5, maxStepsMs / 1_000), 60),
      isQuiet: jsonOutput,
    },
    effect: 'writes',
    act: (task, { timeout, isQuiet }) => {
      const onStep = (step: Step) => {
        if (!isQuiet) stdout.write(`${lineOf(step)}\n`);
      };
      const act = (signal: AbortSignal) => testStage(task, { timeout, onStep, interruption: signal });
      return untilInterrupted(act, task.print, interruption);
    },
    subject: () => ({ account: smokeAccount }),
    report: ({ steps, durationMs, deliveryId }, _args, { label }) => ({
      json: { passed: true, durationMs, deliveryId, steps },
      text: `PASSED: ${label} delivered an event to its receiver in ${(durationMs / 1_000).toFixed(1)} s.`,
    }),
  });
  return { name: 'smoke', commands: [test, rotate, remove] };
}

function lineOf({ name, durationMs }: Step): string {
  return `${name.padEnd(15)} ${`${durationMs}`.padStart(6)} ms`;
}
