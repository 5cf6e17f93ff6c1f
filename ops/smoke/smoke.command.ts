import type { Command } from 'commander';
import { longestStepsMs, type Step } from '../../lambdas/smoke/step-record.ts';
import { wholeNumber } from '../command-line/option-values.ts';
import { printable, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { Streams } from '../command-line/terminal.ts';
import type { RotatedCredentials, SmokeReport } from './smoke.ts';

/** Adds `smoke`. */
export function addSmoke(
  program: Command,
  run: Run,
  { stdout, interruption }: Pick<Streams, 'stdout' | 'interruption'>,
): void {
  const test = run(actions, all => all.testStage, passed);
  const smoke = program
    .command('smoke')
    .description('test the whole service: log in, register a webhook, publish an event, receive it; and tidy up')
    .option(
      '--timeout <seconds>',
      'how long the test may take, without tidying up',
      wholeNumber(5, longestStepsMs / 1_000),
      60,
    )
    .addHelpText('after', examples)
    .action((options: { readonly timeout: number }, command: Command) => {
      const onStep = (step: Step) => {
        if (!command.optsWithGlobals<{ json?: boolean }>().json) stdout.write(`${lineOf(step)}\n`);
      };
      return untilInterrupted(signal => test({ ...options, onStep, interruption: signal }), interruption);
    });

  smoke
    .command('rotate-credentials')
    .description('give the scheduled test another client and user; the first time, its first ones')
    .action(run(actions, all => all.rotateCredentials, rotated));

  smoke
    .command('remove')
    .description('remove all that smoke tests keep on a stage: before the stage is destroyed')
    .action(run(actions, all => all.removeAll, removed));
}

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

function actions() {
  return import('./smoke.ts');
}

/**
 * Ends what is under way when the process is interrupted. Further signals change nothing: npm sends Ctrl-C on, so that it
 * arrives twice, and tidying up is over within 30 s.
 */
async function untilInterrupted(
  act: (interruption: AbortSignal) => Promise<void>,
  other: AbortSignal | undefined,
): Promise<void> {
  const end = new AbortController();
  const interrupt = () => end.abort();
  for (const name of signals) process.on(name, interrupt);
  try {
    return await act(other ? AbortSignal.any([end.signal, other]) : end.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Returns one line for each step. */
function lineOf({ name, durationMs, outcome, detail }: Step): string {
  const state = outcome === 'failed' ? 'FAILED: ' : '';
  return `${name.padEnd(15)} ${`${durationMs}`.padStart(6)} ms  ${state}${printable(detail)}`;
}

function passed({ label, result }: SmokeReport): Report {
  const { steps, durationMs, deliveryId } = result;
  return {
    json: { passed: true, durationMs, deliveryId, steps },
    text: `PASSED: ${label} delivered an event to its receiver; everything took ${(durationMs / 1_000).toFixed(1)} s.`,
  };
}

function rotated({ clientId, username, parameter, removed: before }: RotatedCredentials): Report {
  const others = before === 0 ? '' : ' The ones before are deleted.';
  return {
    json: { clientId, username, parameter },
    text: `The scheduled test uses client ${clientId} and user ${username} from its next run on.${others} Their secrets stand in ${parameter} only.`,
  };
}

function removed({ removed: names }: { readonly removed: readonly string[] }): Report {
  const text = names.length === 0 ? 'There was nothing to remove.' : `Removed ${names.join(', ')}.`;
  return { json: { removed: names }, text };
}
