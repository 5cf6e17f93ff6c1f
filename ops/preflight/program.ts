import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError, knownStage, type StageName } from '../../lib/stage-files.ts';
import { printable } from '../command-line/report.ts';
import { makeProgress, noProgress, type Streams } from '../command-line/terminal.ts';
import { connectAws } from './aws.ts';
import { checkStage, type Preflight, type PreflightWorld } from './preflight.ts';
import { synthesise } from './synthesis.ts';

/**
 * Runs the check before a deployment.
 *
 * @returns the exit code: 0; 1 where there is a problem; 2 for a command that was not understood.
 */
export async function runPreflight(
  args: readonly string[],
  streams: Pick<Streams, 'stdout' | 'stderr'> = process,
  world: PreflightWorld = thisWorld,
): Promise<number> {
  const program = makeProgram(streams);
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  const { stage, json = false } = program.opts<{ stage: StageName; json?: boolean }>();
  const progress = makeProgress(streams.stderr);
  const preflight = await checkStage(stage, world, json ? noProgress : progress.show);
  progress.clear();
  streams.stdout.write(`${json ? JSON.stringify(preflight, null, 2) : describe(preflight)}\n`);
  return preflight.command === null ? 1 : 0;
}

const thisWorld: PreflightWorld = {
  configure: stageConfiguration,
  synthesise,
  defaultRegion: async () => {
    const { STSClient } = await import('@aws-sdk/client-sts');
    return new STSClient({}).config.region();
  },
  connect: connectAws,
  now: Date.now,
};

function makeProgram({ stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>): Command {
  return new Command('preflight')
    .description(
      'Checks a stage before its deployment: its file, the account, and what is there already. It only reads.',
    )
    .requiredOption('--stage <name>', 'the stage to be deployed', deployableStage)
    .option('--json', 'write JSON for programs instead of text')
    .addHelpText('after', examples)
    .configureOutput({ writeOut: text => void stdout.write(text), writeErr: text => void stderr.write(text) })
    .exitOverride();
}

function deployableStage(name: string): StageName {
  if (name === 'local') throw new InvalidArgumentError('Stage local is what "npm start" runs: it is not deployed.');
  try {
    return knownStage(name);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new InvalidArgumentError(error.message);
  }
}

const examples = `
It ends with 0 where nothing stands in the way; with 1 where there is a problem; with 2 when the command was not understood.
What it could not check is said, and is no problem by itself.

Examples:
  npm run preflight -- --stage prod
  npm run --silent preflight -- --stage prod --json`;

function describe({ stage, findings, command }: Preflight): string {
  const problems = findings.filter(({ state }) => state === 'problem').length;
  const unknowns = findings.filter(({ state }) => state === 'unknown').length;
  const lines = findings.flatMap(({ check, state, text, todo }) => [
    `${labels[state]}  ${check}: ${printable(text)}`,
    ...(todo === undefined ? [] : todo.split('\n').map(line => `${' '.repeat(9)}-> ${printable(line)}`)),
  ]);
  const unchecked = unknowns === 0 ? '' : ` ${unknowns} could not be checked.`;
  const verdict =
    command === null
      ? `Do not deploy stage ${stage} yet: ${problems} ${problems === 1 ? 'problem' : 'problems'}.${unchecked}`
      : `Nothing stands in the way of stage ${stage}.${unchecked} Next: ${command}`;
  return [...lines, '', verdict].join('\n');
}

const labels = { ok: 'ok     ', problem: 'PROBLEM', unknown: 'unknown' };
