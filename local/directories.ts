import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, LocalFault, messageOf } from './fault.ts';

/** Where state is kept across restarts. */
export interface DataDirectory {
  readonly tables: string;
  readonly queues: string;
  readonly masterKeyFile: string;
  readonly demoFile: string;
  /** Lets others use it. */
  release(): void;
}

/** An exclusive transaction that is never ended: the system frees it with the process, even after a kill -9. */
const lock = (directory: string): DatabaseSync => {
  const database = new DatabaseSync(join(directory, 'lock'));
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch {
    throw new LocalFault(`${directory} is in use by another local run.`);
  }
};

/** Step by step: Node's own recursive mkdir never returns where the system pretends that a parent is missing (/proc). */
const make = (directory: string): void => {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(directory) !== directory) make(dirname(directory));
  try {
    mkdirSync(directory);
  } catch (error) {
    throw new LocalFault(`The directory ${directory} cannot be made: ${messageOf(error)}`);
  }
};

/**
 * Opens a data directory for one run alone.
 *
 * @throws {LocalFault} when it cannot be made or is in use.
 */
export const openDataDirectory = (directory: string): DataDirectory => {
  const tables = join(directory, 'dynamodb');
  const queues = join(directory, 'sqs');
  for (const needed of [directory, tables, queues]) make(needed);
  const held = lock(directory);
  return {
    tables,
    queues,
    masterKeyFile: join(directory, 'kms-master-key'),
    demoFile: join(directory, 'demo.json'),
    release: () => held.close(),
  };
};

/** Whether a process of that id is alive. */
const isAlive = (id: number): boolean => {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
};

/**
 * Makes a directory for the files of this run, named by the process id, and removes what killed runs have left.
 *
 * @returns its path, and what removes it.
 */
export const makeRunDirectory = (parent: string): { readonly path: string; remove(): void } => {
  make(parent);
  for (const name of readdirSync(parent)) {
    if (!isAlive(Number(name))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const path = join(parent, String(process.pid));
  rmSync(path, { recursive: true, force: true });
  make(path);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};
