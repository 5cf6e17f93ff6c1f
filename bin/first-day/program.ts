import { Command, CommanderError, Option } from 'commander';
import type { StageName } from '../../lib/stage-files.ts';
import { CliError, describeError } from '../actions/operator.ts';
import { stageOption } from '../ops/stage-option.ts';
import { confirm, makeProgress, type Streams } from '../ops/terminal.ts';
import { checks } from './checks.ts';
import { runChecks } from './first-day.ts';
import { countsOf, type Outcome } from './report.ts';

/**
 * Runs the checks of the first day on AWS.
 *
 * @returns the exit code: 0; 1 where a check failed or the run was refused; 2 for a command that was not understood.
 */
export async function runFirstDay(
  args: readonly string[],
  streams: Pick<Streams, 'stdout' | 'stderr'> = process,
): Promise<number> {
  const program = makeProgram(streams);
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  const { stage, only = [], report = `first-day-${stage}.md`, yes } = program.opts<Options>();
  const progress = makeProgress(streams.stderr);
  const interruption = new AbortController();
  const interrupt = () => {
    progress.clear();
    streams.stderr.write('It stops after this check, and removes what it made.\n');
    interruption.abort();
  };
  process.once('SIGINT', interrupt);
  try {
    const outcomes = await runChecks({
      stage,
      report,
      checks: only.length === 0 ? checks : checks.filter(({ name }) => only.includes(name)),
      confirm: consequences => confirm(consequences, yes),
      progress: progress.show,
      onOutcome: outcome => {
        progress.clear();
        streams.stdout.write(`${lineOf(outcome)}\n`);
      },
      interruption: interruption.signal,
    });
    progress.clear();
    streams.stdout.write(`${countsOf(outcomes)}. The report: ${report}\n`);
    return outcomes.some(({ state }) => state === 'failed') ? 1 : 0;
  } catch (error) {
    progress.clear();
    if (!(error instanceof Error)) throw error;
    streams.stderr.write(
      `error: ${error instanceof CliError ? error.message : describeError(error, 'AWS does not answer')}\n`,
    );
    return 1;
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

interface Options {
  readonly stage: StageName;
  readonly only?: readonly string[];
  readonly report?: string;
  readonly yes?: boolean;
}

function makeProgram({ stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>): Command {
  return new Command('first-day')
    .description('Checks on AWS what no emulator shows, on a deployed stage for trying things, and writes a report.')
    .addOption(stageOption('a deployed stage without customers'))
    .addOption(new Option('--only <check...>', 'these checks').choices(checks.map(({ name }) => name)))
    .option('--report <file>', 'the file of the report (default: first-day-STAGE.md)')
    .option('--yes', 'do not ask')
    .addHelpText('after', examples)
    .configureOutput({ writeOut: text => void stdout.write(text), writeErr: text => void stderr.write(text) })
    .exitOverride();
}

const examples = `
The checks, and what each is for, are in docs/first-day.md. It costs under a dollar, asks first, removes what it made, and may be
repeated. Ctrl-C stops it after the check that runs.

Examples:
  npm run first-day -- --stage dev
  npm run first-day -- --stage dev --only argon2 conditions`;

function lineOf({ name, state, text, seconds }: Outcome): string {
  const [first = ''] = text.split('\n');
  return `${labels[state]}  ${name} (${Math.round(seconds)} s): ${first}`;
}

const labels = { passed: 'ok     ', failed: 'FAILED ', skipped: 'skipped' };
