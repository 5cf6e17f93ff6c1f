import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import * as z from 'zod';
import type { TableSnapshot } from '../dynamodb/tables.ts';
import { attributesSchema } from '../dynamodb/wire.ts';
import type { KeptMessage } from '../sqs/queue.ts';
import { codeOf, messageOf, StartError } from './errors.ts';

/** The state that a run stores in a file for the next run. */
export interface KeptState {
  /** The KMS master key. */
  readonly master: Uint8Array;
  readonly tables: readonly TableSnapshot[];
  /** The messages of each queue. */
  readonly queues: Readonly<Record<string, readonly KeptMessage[]>>;
}

/** The state of a run, as it changes. */
export interface ChangingState {
  readonly snapshot: () => KeptState;
  /** Returns a number that differs after each change. */
  readonly changes: () => number;
}

/** Reads the state of an earlier run, if there was one. @throws {StartError} if the file is incomplete or is not from a local run. */
export function readState(file: string): KeptState | undefined {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const reason = issue ? [...issue.path, issue.message].join(' ') : messageOf(error);
    throw new StartError(`${file} is not the state of a local run (${reason})`, 'data-damaged');
  }
}

/**
 * Writes the state to a file every few seconds if it has changed. A killed run loses at most these seconds of changes.
 *
 * @returns a function that writes the last changes and ends it.
 */
export function keepState(file: string, state: ChangingState, onProblem: (message: string) => void) {
  let written = state.changes();
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing.then(write);
  }, interval);
  return async function end(): Promise<void> {
    clearInterval(timer);
    await writing;
    await write();
  };

  async function write(): Promise<void> {
    const changes = state.changes();
    if (changes === written) return;
    try {
      await replaceFile(file, textOf(state.snapshot()));
      written = changes;
    } catch (error) {
      onProblem(`The state cannot be written to ${file}: ${messageOf(error)}. It is tried again.`);
    }
  }
}

/** The interval in milliseconds. */
const interval = 3_000;

const format = 'emissor local run 1';

function textOf({ master, ...state }: KeptState): string {
  return JSON.stringify({ format, master: Buffer.from(master).toString('base64'), ...state });
}

const stateSchema = z.object({
  format: z.literal(format),
  master: z.base64().transform(text => Buffer.from(text, 'base64')),
  tables: z.array(z.object({ definition: z.custom<TableSnapshot['definition']>(), items: z.array(attributesSchema) })),
  queues: z.record(z.string(), z.array(z.custom<KeptMessage>())),
});

/** Replaces a file atomically. Only its owner can read it, because it contains hashes of passwords. */
async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
