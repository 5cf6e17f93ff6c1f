import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, messageOf, StartError } from './errors.ts';
import { type ChangingState, type KeptState, keepState, readState } from './state.ts';

/** The directory in which state is stored across restarts. */
export interface DataDirectory {
  /** Returns the state of an earlier run, if there was one. @throws {StartError} if it cannot be used */
  readState(): KeptState | undefined;
  /** Starts to write the state after each change. */
  keep(state: ChangingState, onProblem: (message: string) => void): void;
  /** Writes all changes and releases the lock. */
  release(): Promise<void>;
}

/** Creates a directory if it does not exist. @throws {StartError} */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new StartError(`The directory ${directory} cannot be created: ${messageOf(error)}`);
  }
}

/** Opens a data directory and locks it for this run. @throws {StartError} if it cannot be created or written to, or is in use */
export function openDataDirectory(directory: string): DataDirectory {
  makeDirectory(directory);
  const lock = lockIn(directory);
  const stateFile = join(directory, 'state.json');
  let endKeeping = async () => {};
  return {
    readState: () => readState(stateFile),
    keep: (state, onProblem) => {
      endKeeping = keepState(stateFile, state, onProblem);
    },
    release: () => endKeeping().finally(() => lock.close()),
  };
}

/**
 * Creates a directory for the files of this run, named by the process id, and removes the directories of killed runs.
 *
 * @returns its path, and a function that removes it.
 */
export function makeRunDirectory(parent: string): { readonly path: string; remove(): void } {
  makeDirectory(parent);
  for (const name of readdirSync(parent)) {
    if (!isAlive(Number(name))) rmSync(join(parent, name), removal);
  }
  const path = join(parent, String(process.pid));
  const remove = () => rmSync(path, removal);
  remove(); // an earlier process had the same id
  makeDirectory(path);
  return { path, remove };
}

/** On Windows a directory cannot be removed until the last process that works in it has exited. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const;

/** Locks a file with an exclusive transaction that is never committed. The system releases it even after SIGKILL. */
function lockIn(directory: string): DatabaseSync {
  try {
    const lock = new DatabaseSync(join(directory, 'lock'));
    lock.exec('BEGIN EXCLUSIVE; PRAGMA user_version = 1'); // fails if the file is read-only
    return lock;
  } catch (error) {
    const isLocked = error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
    if (isLocked) throw new StartError(`${directory} is in use by another local run`, 'data-in-use');
    throw new StartError(`The directory ${directory} cannot be used: ${messageOf(error)}`);
  }
}

/** SQLite's result code for a database that another connection has locked. */
const sqliteBusy = 5;

/** Returns whether the process with that id is alive. */
function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
