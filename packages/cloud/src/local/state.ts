import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import * as z from 'zod';
import type { TableSnapshot } from '../dynamodb/tables.ts';
import { attributesSchema } from '../dynamodb/wire.ts';
import type { MessageSnapshot } from '../sqs/queue.ts';
import { codeOf, messageOf, StartError } from './errors.ts';

/** The state that a run stores in a file for the next run. */
export interface StoredState {
  /** The KMS master key. */
  readonly master: Uint8Array;
  readonly tables: readonly TableSnapshot[];
  /** The messages of each queue. */
  readonly queues: Readonly<Record<string, readonly MessageSnapshot[]>>;
}

/** The current state of a run. */
export interface ChangingState {
  readonly snapshot: () => StoredState;
  /** Returns a counter that increases with each change. */
  readonly changes: () => number;
}

/** Returns the state from an earlier run, if any. @throws {StartError} if the file is incomplete or not from a local run */
export function readState(file: string): StoredState | undefined {
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
 * Writes the state to a file every 3 seconds if it has changed. A killed run loses the changes since the last write.
 *
 * @returns a function that writes the last changes and stops the timer
 */
export function saveState(file: string, state: ChangingState, onProblem: (message: string) => void) {
  let savedChanges = state.changes();
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
    if (changes === savedChanges) return;
    try {
      await replaceFile(file, textOf(state.snapshot()));
      savedChanges = changes;
    } catch (error) {
      onProblem(`Could not write the state to ${file}: ${messageOf(error)}. The run tries again within 3 seconds.`);
    }
  }
}

/** The interval between writes in milliseconds. */
const interval = 3_000;

const format = 'emissor local run 1';

function textOf({ master, ...state }: StoredState): string {
  return JSON.stringify({ format, master: Buffer.from(master).toString('base64'), ...state });
}

const stateSchema = z.object({
  format: z.literal(format),
  master: z.base64().transform(text => Buffer.from(text, 'base64')),
  tables: z.array(z.object({ definition: z.custom<TableSnapshot['definition']>(), items: z.array(attributesSchema) })),
  queues: z.record(z.string(), z.array(z.custom<MessageSnapshot>())),
});

/** Replaces a file atomically. Only its owner can read it, because it contains password hashes and the KMS master key. */
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
