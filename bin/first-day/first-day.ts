import { writeFile } from 'node:fs/promises';
import { hasCustomers } from '../../lib/config.ts';
import type { StageName } from '../../lib/stage-files.ts';
import packageFile from '../../package.json' with { type: 'json' };
import { CliError } from '../actions/operator.ts';
import { findTarget } from '../actions/target.ts';
import { type Check, CheckFailed, type World } from './check.ts';
import { type Outcome, writeReport } from './report.ts';
import { makeScratch } from './scratch-stack.ts';
import { openWorkshop, runNode } from './workshop.ts';

/** The options of a run. */
export interface FirstDayOptions {
  readonly stage: StageName;
  readonly checks: readonly Check[];
  /** The file to write the report to. */
  readonly report: string;
  /** @throws unless the operator agrees. */
  readonly confirm: (consequences: string) => Promise<void>;
  readonly progress: (text: string) => void;
  readonly onOutcome: (outcome: Outcome) => void;
  /** Stops after the check that runs. */
  readonly interruption: AbortSignal;
}

/**
 * Checks on AWS what no emulator shows, one after the other, and removes what it made. The report is written anew after each check.
 *
 * @throws {CliError} for a stage that has customers, or is not deployed.
 */
export async function runChecks(options: FirstDayOptions): Promise<readonly Outcome[]> {
  const { stage, checks, report, confirm, progress, onOutcome, interruption } = options;
  const target = await findTarget({ stage });
  if (!target.deployed) throw new CliError(`stage ${stage} is not deployed.`);
  const { configuration, region } = target.deployed;
  if (hasCustomers(configuration)) {
    throw new CliError(
      `stage ${stage} has customers: this deploys versions that fail. Name a stage for trying things, such as dev.`,
    );
  }
  const missing = target.deployed.stacks.filter(({ found }) => found === undefined);
  if (missing.length > 0) {
    throw new CliError(
      `${missing.map(({ stackName }) => stackName).join(', ')} is not there: npx cdk deploy --all -c stage=${stage}`,
    );
  }
  await confirm(costs(stage, checks));

  const isEmulated = process.env.AWS_ENDPOINT_URL !== undefined;
  const circumstances = { stage, region, version: packageFile.version, begun: new Date(), isEmulated };
  const settings = { region, maxAttempts: 5 };
  const outcomes: Outcome[] = [];
  progress('Making scratch resources');
  const workshop = await openWorkshop(stage);
  try {
    const scratch = await makeScratch(stage, target.outputs, settings);
    try {
      const world = {
        ...{ configuration, target, settings, workshop, scratch: scratch.outputs },
        ops: <Answer>(...words: readonly string[]) => runOps<Answer>(stage, words),
      };
      for (const check of checks) {
        if (interruption.aborted) break;
        progress(`Checking: ${check.name}`);
        const outcome = await tryOut(
          check,
          { ...world, progress: text => progress(`${check.name}: ${text}`) },
          isEmulated,
        );
        outcomes.push(outcome);
        onOutcome(outcome);
        await writeFile(report, writeReport(outcomes, circumstances));
      }
    } finally {
      progress('Removing scratch resources');
      await scratch.remove();
    }
  } finally {
    await workshop.remove();
  }
  return outcomes;
}

function costs(stage: string, checks: readonly Check[]): string {
  const deploys = checks.some(({ name }) => name === 'canary');
  return `This runs ${checks.length} checks on stage ${stage} of your account${deploys ? ', some forty minutes, with deployments of versions that fail,' : ''} and costs under a dollar. It makes a stack Emissor-${stage}-FirstDay and deletes it.`;
}

async function tryOut(check: Check, world: World, isEmulated: boolean): Promise<Outcome> {
  const { name, claim, emulated } = check;
  if (isEmulated && emulated !== undefined) {
    return { name, claim, state: 'skipped', text: `on this emulator ${emulated}`, seconds: 0 };
  }
  const began = Date.now();
  const ended = (state: Outcome['state'], text: string) => ({
    name,
    claim,
    state,
    text,
    seconds: (Date.now() - began) / 1_000,
  });
  try {
    return ended('passed', await check.run(world));
  } catch (error) {
    const { name: kind, message } = error as Error;
    return ended('failed', error instanceof CheckFailed ? message : `${kind}: ${message}`);
  }
}

/** Runs the operator's command line as a process of its own: it is what operators type. */
async function runOps<Answer>(stage: string, words: readonly string[]): Promise<Answer> {
  const command = ['--require', './bin/node-version.cjs', 'bin/ops.ts', '--stage', stage, '--json', '--yes', ...words];
  const { succeeded, output, stdout } = await runNode(command);
  if (!succeeded) throw new CheckFailed(`ops ${words.join(' ')}: ${output.trim()}`);
  return JSON.parse(stdout);
}
