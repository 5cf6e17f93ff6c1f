import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from './directories.ts';
import { messageOf, StartError } from './errors.ts';

/** The outputs of a run. They contain everything that a program needs to use the run. */
export interface RunOutputs {
  readonly DynamoDbEndpoint: string;
  readonly SqsEndpoint: string;
  readonly SnsEndpoint: string;
  readonly KmsEndpoint: string;
  readonly LogsEndpoint: string;
  readonly Region: string;
  /** The outputs of the stacks, and the address of the site. */
  readonly [output: string]: unknown;
}

/** Checks that the outputs file is writable. @throws {StartError} if it is not */
export function requireWritable(file: string): void {
  try {
    makeDirectory(dirname(file));
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new StartError('it is not a file');
    writeFileSync(draftOf(file), '');
    rmSync(draftOf(file));
  } catch (error) {
    throw new StartError(`Could not write the outputs to ${file}: ${messageOf(error)}`, 'outputs-unwritable');
  }
}

/**
 * Writes the outputs file atomically. Only its owner can read it, because it contains credentials.
 *
 * @returns a function that removes the file, unless another run has overwritten it
 */
export function writeOutputs(file: string, outputs: RunOutputs): () => void {
  const text = `${JSON.stringify(outputs, undefined, 2)}\n`;
  writeFileSync(draftOf(file), text, { mode: 0o600 });
  renameSync(draftOf(file), file);
  return function remove() {
    if (statSync(file, { throwIfNoEntry: false }) && readFileSync(file, 'utf8') === text) rmSync(file);
  };
}

function draftOf(file: string): string {
  return `${file}.${process.pid}`;
}
