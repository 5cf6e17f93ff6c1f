import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Stack } from './assembly/assembly.ts';
import { region } from './assembly/identities.ts';
import type { Resolve } from './assembly/intrinsics.ts';
import { lockFile, makeDirectory } from './directories.ts';
import { messageOf, StartError } from './errors.ts';
import type { Services } from './services.ts';

/** The outputs of a run: all that a program needs in order to use it. */
export interface RunOutputs {
  readonly DynamoDbEndpoint: string;
  readonly SqsEndpoint: string;
  readonly SnsEndpoint: string;
  readonly KmsEndpoint: string;
  readonly LogsEndpoint: string;
  readonly Region: string;
  /** The stacks' own outputs, and the addresses of the sites. */
  readonly [output: string]: unknown;
}

/** Returns the outputs of all stacks, resolved; without those that only carry references from stack to stack. */
export function stackOutputs(stacks: readonly Stack[], resolve: Resolve): Readonly<Record<string, string>> {
  return Object.fromEntries(
    stacks.flatMap(stack =>
      Object.entries(stack.template.Outputs)
        .filter(([, { Export }]) => Export === undefined)
        .map(([name, { Value }]) => [name, String(resolve(Value, stack))]),
    ),
  );
}

/** Returns an output that the run needs. @throws {StartError} when there is none of that name */
export function requiredOutput(outputs: Readonly<Record<string, unknown>>, name: string): string {
  const value = outputs[name];
  if (typeof value === 'string') return value;
  throw new StartError(`The stacks have no output "${name}", which the local run needs.`);
}

/** Returns the outputs of the stacks, the endpoints of the services and the addresses of the sites. */
export function runOutputs(
  stacks: Readonly<Record<string, string>>,
  { endpoints, logs }: Pick<Services, 'endpoints'> & { readonly logs: Pick<Services['logs'], 'endpoint'> },
  sites: Readonly<Record<string, string>>,
): RunOutputs {
  return {
    ...stacks,
    DynamoDbEndpoint: endpoints.DYNAMODB,
    SqsEndpoint: endpoints.SQS,
    SnsEndpoint: endpoints.SNS,
    KmsEndpoint: endpoints.KMS,
    LogsEndpoint: logs.endpoint,
    Region: region,
    ...sites,
  };
}

/**
 * Checks at the very start that the outputs file can be written, and claims it by a lock beside it, which ends with the process: the
 * file of a run that was killed is overwritten, that of one that is up is not, however busy it is.
 *
 * @returns what releases it.
 * @throws {StartError}
 */
export function claimOutputs(file: string): () => void {
  const lock = `${file}.lock`;
  const held = claim(file, lock);
  if (!held) throw new StartError(`${file} belongs to a run that is up`, 'outputs-in-use');
  return () => {
    try {
      rmSync(lock);
    } catch {
      // On Windows it stays while it is open. It is no longer locked, and the next run takes it.
    }
    held.close();
  };
}

/**
 * Writes the outputs file atomically. Only its owner can read it, because it holds credentials.
 *
 * @returns what removes it, unless another run has overwritten it.
 * @throws {StartError} when it cannot be written.
 */
export function writeOutputs(file: string, outputs: RunOutputs): () => void {
  const text = `${JSON.stringify(outputs, undefined, 2)}\n`;
  try {
    makeDirectory(dirname(file));
    const draft = draftOf(file);
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    throw unwritable(file, error);
  }
  return () => {
    try {
      if (readFileSync(file, 'utf8') === text) rmSync(file);
    } catch {
      // already gone
    }
  };
}

function claim(file: string, lock: string) {
  try {
    makeDirectory(dirname(file));
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new StartError('it is not a file');
    writeFileSync(draftOf(file), '');
    rmSync(draftOf(file));
    return lockFile(lock);
  } catch (error) {
    throw unwritable(file, error);
  }
}

function draftOf(file: string): string {
  return `${file}.${process.pid}`;
}

function unwritable(file: string, reason: unknown): StartError {
  return new StartError(`The outputs cannot be written to ${file}: ${messageOf(reason)}`, 'outputs-unwritable');
}
