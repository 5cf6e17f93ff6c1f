import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { StageName } from '../../lib/config.ts';
import { CliError } from './cli-error.ts';

/** The outputs of a run or a deployment by their names: queue URLs, table names, endpoints. */
type Outputs = Readonly<Record<string, string>>;

/** The Emissor that a command works on. */
export interface Target {
  /** Its name in messages: `the local run`, `stage dev`. */
  readonly label: string;
  readonly outputs: Outputs;
  /** The message for when it does not answer. */
  readonly unreachable: string;
}

/** The options that choose a target. */
export interface TargetOptions {
  readonly stage?: StageName;
  readonly outputs?: string;
}

/**
 * Finds the Emissor to work on: a deployed stage by the outputs of its stacks, or the run that an outputs file describes.
 * Without either, it is the local run.
 *
 * @throws {CliError}
 */
export async function findTarget({ stage, outputs: file }: TargetOptions): Promise<Target> {
  if (file !== undefined) {
    const outputs = await readOutputs(
      file,
      `${file} cannot be read: --outputs names the file of a run or a deployment.`,
    );
    return { label: file, outputs, unreachable: `nothing answers at the addresses in ${file}: is that run still up?` };
  }
  if (stage === undefined || stage === 'local') {
    return { label: 'the local run', outputs: await readOutputs(localOutputs, notRunning), unreachable: notRunning };
  }
  return {
    label: `stage ${stage}`,
    outputs: await readStageOutputs(stage),
    unreachable: 'AWS does not answer: check the network and AWS_REGION.',
  };
}

/**
 * One output of the target.
 *
 * @throws {CliError} when the target has no such output: another version of Emissor wrote it.
 */
export function requireOutput(target: Target, name: string): string {
  const value = target.outputs[name];
  if (value === undefined)
    throw new CliError(`${target.label} has no output "${name}": deploy or start this version first.`);
  return value;
}

/** How an SDK client reaches the target: at the local run's endpoint, or on AWS with the SDK's usual credentials. */
export function connectionSettings({ outputs }: Target, endpoint: string | undefined) {
  return {
    maxAttempts: 3,
    ...(outputs.Region !== undefined && { region: outputs.Region }),
    ...(endpoint !== undefined && { endpoint, credentials: localCredentials }),
  };
}

/**
 * The outputs of a deployed stage, read from its CloudFormation stacks with the SDK's usual credentials and region.
 *
 * @throws {CliError} when a stack is missing.
 */
async function readStageOutputs(stage: string): Promise<Outputs> {
  // Loaded on demand: the SDK takes longer to load than the rest takes to run.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ maxAttempts: 3 });
  const region = await client.config.region();

  const readStack = async (name: string): Promise<[string, string][]> => {
    const stackName = `Emissor-${stage}-${name}`;
    try {
      const answer = await client.send(new DescribeStacksCommand({ StackName: stackName }));
      const outputs = answer.Stacks?.[0]?.Outputs ?? [];
      return outputs.map(output => [output.OutputKey ?? '', output.OutputValue ?? '']);
    } catch (error) {
      if (!isMissing(error)) throw error;
      throw new CliError(
        `stage ${stage} is not deployed in ${region}: stack ${stackName} is missing (npx cdk deploy --all -c stage=${stage}).`,
      );
    }
  };

  try {
    const outputs = await Promise.all(stacks.map(readStack));
    return { ...Object.fromEntries(outputs.flat()), Region: region };
  } finally {
    client.destroy();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist');
}

/** The stacks of a stage. */
const stacks = ['Data', 'Auth', 'Webhooks', 'Delivery'];

async function readOutputs(file: string, whenMissing: string): Promise<Outputs> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw new CliError(whenMissing);
  }
  try {
    return flatten(fileShape.parse(JSON.parse(text)));
  } catch {
    throw new CliError(`${file} is not an outputs file: it must be a JSON object of output names and values.`);
  }
}

const localOutputs = path.join(import.meta.dirname, '../../.local/outputs.json');

const notRunning = 'no local run found: start one with npm start (or name a deployed stage with --stage).';

/** Outputs by name. `cdk deploy --outputs-file` groups them by stack, so one level of grouping is flattened. */
function flatten(content: Record<string, unknown>): Outputs {
  const isGroup = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  const entries = Object.entries(content).flatMap(([key, value]) =>
    isGroup(value) ? Object.entries(value) : [[key, value]],
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

const fileShape = z.record(z.string(), z.unknown());

/** The embedded engines take any credentials, but the SDK insists on some. */
const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };
