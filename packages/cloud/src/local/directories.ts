import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, messageOf, StartError } from './errors.ts';
import { type ChangingState, readState, type StoredState, saveState } from './state.ts';

/** The directory that stores state across restarts. */
export interface DataDirectory {
  /** Returns the state from an earlier run, if any. @throws {StartError} if the stored state is invalid */
  readState(): StoredState | undefined;
  /** Starts to save the state at regular intervals. */
  save(state: ChangingState, onProblem: (message: string) => void): void;
  /** Saves the state and releases the lock. */
  release(): Promise<void>;
}

/** Creates a directory if it does not exist. @throws {StartError} */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new StartError(`Could not create the directory ${directory}: ${messageOf(error)}`);
  }
}

/** Opens a data directory and locks it for this run. @throws {StartError} if the directory is in use or is not writable */
export function openDataDirectory(directory: string): DataDirectory {
  makeDirectory(directory);
  const lock = lockIn(directory);
  const stateFile = join(directory, 'state.json');
  let stopSaving = async () => {};
  return {
    readState: () => readState(stateFile),
    save: (state, onProblem) => {
      stopSaving = saveState(stateFile, state, onProblem);
    },
    release: () => stopSaving().finally(() => lock.close()),
  };
}

/**
 * Creates a directory for the files of this run, and removes the directories of killed runs. The name is the process id.
 *
 * @returns the path, and a function that removes the directory
 */
export function makeRunDirectory(parent: string): { readonly path: string; remove(): void } {
  makeDirectory(parent);
  for (const name of readdirSync(parent)) {
    if (!isAlive(Number(name))) rmSync(join(parent, name), removal);
  }
  const path = join(parent, String(process.pid));
  const remove = () => rmSync(path, removal);
  remove(); // an earlier process may have had the same id
  makeDirectory(path);
  return { path, remove };
}

/** Retries the removal, because Windows removes a directory only after all processes in it have exited. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const;

/** Locks a directory with an exclusive SQLite transaction that is never committed. The system releases the lock even after SIGKILL. */
function lockIn(directory: string): DatabaseSync {
  try {
    const lock = new DatabaseSync(join(directory, 'lock'));
    lock.exec('BEGIN EXCLUSIVE; PRAGMA user_version = 1'); // fails if the file is read-only
    return lock;
  } catch (error) {
    const isLocked = error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
    if (isLocked) throw new StartError(`${directory} is in use by another local run`, 'data-in-use');
    throw new StartError(`Could not use the directory ${directory}: ${messageOf(error)}`);
  }
}

/** SQLite's result code if another connection has locked the database. */
const sqliteBusy = 5;

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
