import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, messageOf, StartError } from './errors.ts';
import { type ChangingState, type KeptState, keepState, readState } from './state.ts';

/** The directory in which state is kept across restarts. */
export interface DataDirectory {
  /** Returns the state of an earlier run, if there was one. @throws {StartError} if it cannot be used */
  readState(): KeptState | undefined;
  /** Writes the state from now on whenever it has changed. */
  keep(state: ChangingState, onProblem: (message: string) => void): void;
  readonly masterKeyFile: string;
  /** Writes what has changed, and releases the lock. */
  release(): Promise<void>;
}

/**
 * Makes a directory where there is none. It does not use Node's recursive mkdir, which never returns below a directory in
 * which none can be made although it exists (/proc).
 *
 * @throws {StartError}
 */
export function makeDirectory(directory: string): void {
  try {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
    if (dirname(directory) !== directory) makeDirectory(dirname(directory));
    mkdirSync(directory);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The directory ${directory} cannot be made: ${messageOf(error)}`);
  }
}

/**
 * Opens a data directory and locks it for this run.
 *
 * @throws {StartError} when it cannot be made or written to, or is in use.
 */
export function openDataDirectory(directory: string): DataDirectory {
  prepare(directory);
  const held = lockIn(directory);
  const stateFile = join(directory, 'state.json');
  let endKeeping = async () => {};
  return {
    readState: () => readState(stateFile),
    keep: (state, onProblem) => {
      endKeeping = keepState(stateFile, state, onProblem);
    },
    masterKeyFile: join(directory, 'kms-master-key'),
    release: () => endKeeping().finally(() => held.close()),
  };
}

/**
 * Locks a file, which is made where there is none, by an exclusive transaction that is never committed: the system releases it with
 * the process, even after SIGKILL. Returns `undefined` while another has it.
 */
export function lockFile(file: string): DatabaseSync | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return undefined;
    throw error;
  }
}

/** SQLite's result code for a database that another connection has locked. */
const sqliteBusy = 5;

/**
 * Makes a directory for the files of this run, named by the process id, and removes those of runs that were killed. Where none
 * can be made there, on a read-only file system or in another user's folder, it stands in the system's temporary folder.
 *
 * @returns its path, and what removes it.
 */
export function makeRunDirectory(parent: string): { readonly path: string; remove(): void } {
  const path = ownDirectory(parent);
  return { path, remove: () => rmSync(path, removal) };
}

function ownDirectory(parent: string): string {
  try {
    return directoryOfProcess(parent);
  } catch {
    // a temporary one
  }
  try {
    return mkdtempSync(join(tmpdir(), 'cloud-run-'));
  } catch (error) {
    throw new StartError(`No directory can be made in ${parent}, nor in ${tmpdir()}: ${messageOf(error)}`);
  }
}

function directoryOfProcess(parent: string): string {
  makeDirectory(parent);
  for (const name of readdirSync(parent)) {
    if (!isAlive(Number(name))) rmSync(join(parent, name), removal);
  }
  const path = join(parent, String(process.pid));
  rmSync(path, removal);
  makeDirectory(path);
  return path;
}

/** On Windows a directory cannot be removed until the last process that works in it has exited. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const;

/** Makes a directory, or checks that files can be made in the one that exists. */
function prepare(directory: string): void {
  makeDirectory(directory);
  try {
    rmdirSync(mkdtempSync(join(directory, 'probe-')));
  } catch (error) {
    throw new StartError(`The directory ${directory} cannot be written to: ${messageOf(error)}`);
  }
}

function lockIn(directory: string): DatabaseSync {
  try {
    const held = lockFile(join(directory, 'lock'));
    if (held) return held;
  } catch (error) {
    throw new StartError(`The directory ${directory} cannot be used: ${messageOf(error)}`);
  }
  throw new StartError(`${directory} is in use by another local run`, 'data-in-use');
}

/** Returns whether a process of that id is alive. */
function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
