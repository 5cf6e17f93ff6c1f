import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import type { MakeId } from '../../lambdas/platform/identifiers.ts';
import type { Time } from '../../lambdas/platform/timer.ts';
import type { StageName } from '../../lib/stage-files.ts';
import { type AwsClient, type AwsClock, makeAwsClock } from './aws-clock.ts';
import { type AskPassword, CliError, type Confirm, type ShowProgress } from './operator.ts';
import {
  type Connect,
  type ConnectionSettings,
  type EndpointOutput,
  type OpsRuntime,
  opsRuntime,
  type ServiceOf,
} from './ops-runtime.ts';
import { attemptsAtStage, isLeftOver, outputsOfStacks, readStageStacks, type StageStacks } from './stage-stacks.ts';

/** The outputs of a run or a deployment by name, such as queue URLs, table names and endpoints. */
type Outputs = Readonly<Record<string, string>>;

/** The facts about the Emissor instance that a command targets. */
export interface TargetFacts {
  /** The name in messages, such as `the local run` or `stage dev`. */
  readonly label: string;
  readonly outputs: Outputs;
  /** The stacks of a deployed stage. If a required stack is missing, `requireOutput` reports its name. */
  readonly deployed?: StageStacks;
  /** The message if the target does not respond. */
  readonly unreachable: string;
}

/** The Emissor instance that a command targets, with the runtime for its actions. */
export interface Target extends TargetFacts {
  readonly connect: Connect;
  /** Returns the DynamoDB client. The first call creates the client. */
  readonly documents: () => DynamoDBDocumentClient;
  /** Sends a command with that client. */
  readonly dynamo: Dynamo;
  /** The clock, which AWS responses correct. */
  readonly clock: AwsClock;
  /** The time of `clock`, with this machine's timers. */
  readonly time: Time;
  readonly pause: Time['pause'];
  readonly makeId: MakeId;
  readonly hashPassword: (password: string) => Promise<string>;
}

/** The target of an action, and its output to the operator. */
export interface Task {
  readonly target: Target;
  readonly progress: ShowProgress;
  /** Prints a permanent line, such as one about each of several items. Prints nothing with `--json`. */
  readonly print: (line: string) => void;
  /** Warns about a problem that does not stop the action. */
  readonly warn: (text: string) => void;
  readonly confirm: Confirm;
  readonly askPassword: AskPassword;
  /** Interrupts the action, if the calling program handles signals itself. */
  readonly interruption?: AbortSignal;
}

/** Creates the target from its facts. The clients share one clock, which their responses correct. */
export function makeTarget(
  facts: TargetFacts,
  runtime: OpsRuntime = opsRuntime,
  clock: AwsClock = makeAwsClock(runtime.time.now),
): Target {
  const { outputs, deployed } = facts;
  const { makeId, hashPassword } = runtime;
  const time: Time = { ...runtime.time, now: clock.now };
  const clients: AwsClient[] = [];
  let tables: DynamoDBDocumentClient | undefined;
  const dynamo: Dynamo = (command, options) => documents().send(command, options);
  return { ...facts, connect, documents, dynamo, clock, time, pause: time.pause, makeId, hashPassword };

  function connect<Client extends AwsClient>(Service: ServiceOf<Client>, endpoint?: EndpointOutput): Client {
    for (const client of clients) if (client instanceof Service) return client;
    const client = clock.adjustFrom(runtime.makeClient(Service, settingsFor(endpoint)));
    clients.push(client);
    return client;
  }

  function documents(): DynamoDBDocumentClient {
    tables ??= clock.adjustFrom(runtime.makeDocumentClient(settingsFor('DynamoDbEndpoint')));
    return tables;
  }

  function settingsFor(output: EndpointOutput | undefined): ConnectionSettings {
    const endpoint = output && outputs[output];
    return {
      maxAttempts: deployed ? attemptsAtStage : attempts,
      ...(outputs.Region !== undefined && { region: outputs.Region }),
      ...(endpoint !== undefined && { endpoint, credentials: { ...localCredentials } }),
    };
  }
}

/** Creates the target for a local run with these outputs, which may be grouped. */
export function localTarget(outputs: Readonly<Record<string, unknown>>, runtime?: OpsRuntime): Target {
  return makeTarget({ label: 'the local run', outputs: flatten(outputs), unreachable: notRunning }, runtime);
}

/** The options that select a target. */
export interface TargetOptions {
  readonly stage?: StageName;
  readonly outputs?: string;
}

/**
 * Finds the selected Emissor instance, which is a deployed stage, or the run or deployment that an outputs file describes.
 * The default is the local run.
 * @throws {CliError} if the stage or the outputs file cannot be read.
 */
export async function findTarget(
  { stage, outputs: file }: TargetOptions,
  runtime: OpsRuntime = opsRuntime,
): Promise<Target> {
  if (file !== undefined) {
    const outputs = await readOutputs(
      file,
      `Could not read ${file}. Set --outputs to the outputs file of a local run or a deployment.`,
    );
    const unreachable = `No service responds at the addresses in ${file}. Check that it is still running.`;
    return makeTarget({ label: file, outputs, unreachable }, runtime);
  }
  if (stage === undefined || stage === 'local') {
    return localTarget(await readOutputs(localOutputs, notRunning), runtime);
  }
  const clock = makeAwsClock(runtime.time.now);
  const connectIn =
    (region?: string): Connect =>
    Service =>
      clock.adjustFrom(runtime.makeClient(Service, { maxAttempts: attempts, ...(region !== undefined && { region }) }));
  const deployed = await readStageStacks(stage, connectIn);
  const unreachable = 'AWS did not respond. Check the network and AWS_REGION.';
  return makeTarget({ label: `stage ${stage}`, outputs: outputsOf(deployed), deployed, unreachable }, runtime, clock);
}

/**
 * Returns an output of the target.
 * @throws {CliError} if the output is missing, because a stack is missing or another version of Emissor wrote the outputs.
 */
export function requireOutput(target: TargetFacts, name: string): string {
  const value = target.outputs[name];
  if (value !== undefined) return value;
  const missing = target.deployed?.stacks.find(({ found }) => found === undefined);
  if (target.deployed && missing) throw new CliError(notDeployed(target.deployed, missing.stackName));
  throw new CliError(`${target.label} has no output "${name}". Deploy or start this version first.`);
}

/** Returns the outputs of a stage, without the outputs of stacks that are left over. */
export function outputsOf({ configuration, region, stacks }: Omit<StageStacks, 'account'>): Outputs {
  const ownStacks = stacks.filter(stack => !isLeftOver(stack, configuration));
  return { ...outputsOfStacks(ownStacks), Region: region };
}

function notDeployed({ configuration: { stage }, region, account }: StageStacks, stackName: string): string {
  return `stage ${stage} is not deployed in ${region} of account ${account}: stack ${stackName} is missing. Run: npm run preflight -- --stage ${stage}`;
}

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
    throw new CliError(`${file} is not an outputs file. It must be a JSON object of output names and values.`);
  }
}

const localOutputs = path.join(import.meta.dirname, '../../.local/outputs.json');

const notRunning = 'No local run found. Start one with "npm start", or specify a deployed stage with --stage.';

/** Returns outputs by name. `cdk deploy --outputs-file` groups them by stack, so one level of grouping is flattened. */
function flatten(content: Record<string, unknown>): Outputs {
  const entries = Object.entries(content).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null ? Object.entries(value) : [[key, value]],
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

const fileShape = z.record(z.string(), z.unknown());

/** The maximum number of attempts for a call to a local run, and for the calls that find a stage. */
const attempts = 3;

/**
 * The embedded engines accept any credentials, but the SDK requires some. Each client gets a copy, because the SDK changes
 * the object.
 */
const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };
