import type { Command } from 'commander';
import { longestStepsMs, type Step } from '../../lambdas/smoke/step-record.ts';
import { wholeNumber } from './option-values.ts';
import { printable, type Report } from './report.ts';
import type { Run } from './run.ts';
import type { RotatedCredentials, SmokeReport } from './smoke-actions.ts';
import { type Confirmed, type Streams, yesOption } from './terminal.ts';

/** Adds `smoke`. */
export function addSmoke(program: Command, run: Run, { stdout }: Pick<Streams, 'stdout'>): void {
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
      return run(command, async target => (await actions()).testStage(target, { ...options, onStep }), reportPassed);
    });

  smoke
    .command('rotate-credentials')
    .description('give the scheduled test another client and user; the first time, its first ones')
    .action((_options: object, command: Command) =>
      run(command, async target => (await actions()).rotateCredentials(target), reportRotated),
    );

  smoke
    .command('remove')
    .description('remove all that smoke tests keep on a stage: before the stage is destroyed')
    .addOption(yesOption())
    .action((options: Confirmed, command: Command) =>
      run(command, async target => (await actions()).removeAll(target, options), reportRemoved),
    );
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
  return import('./smoke-actions.ts');
}

/** One line for each step. */
function lineOf({ name, durationMs, outcome, detail }: Step): string {
  const state = outcome === 'failed' ? 'FAILED: ' : '';
  return `${name.padEnd(15)} ${`${durationMs}`.padStart(6)} ms  ${state}${printable(detail)}`;
}

function reportPassed({ label, result }: SmokeReport): Report {
  const { steps, durationMs, deliveryId } = result;
  return {
    json: { passed: true, durationMs, deliveryId, steps },
    text: `PASSED: ${label} delivered an event to its receiver; everything took ${(durationMs / 1_000).toFixed(1)} s.`,
  };
}

function reportRotated({ clientId, username, parameter, removed }: RotatedCredentials): Report {
  const others = removed === 0 ? '' : ' The ones before are deleted.';
  return {
    json: { clientId, username, parameter },
    text: `The scheduled test uses client ${clientId} and user ${username} from its next run on.${others} Their secrets stand in ${parameter} only.`,
  };
}

function reportRemoved({ removed }: { readonly removed: readonly string[] }): Report {
  const text = removed.length === 0 ? 'There was nothing to remove.' : `Removed ${removed.join(', ')}.`;
  return { json: { removed }, text };
}
