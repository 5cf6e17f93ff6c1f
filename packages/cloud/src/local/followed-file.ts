import { statSync, unwatchFile, watchFile } from 'node:fs';
import { messageOf, StartError } from './errors.ts';

/** A change of a file: what it holds now, or the fault in it. */
export type Change<Content> = { readonly content: Content } | { readonly problem: string };

/** Reads a file that a request names: `hosts` or `faults`. @throws {StartError} when it cannot be used */
export function readAtStart<Content>(what: string, file: string, read: (file: string) => Content): Content {
  try {
    return read(file);
  } catch (error) {
    throw new StartError(`The ${what} file ${file} cannot be used: ${messageOf(error)}`);
  }
}

/**
 * Makes a function that returns what a file holds now: it looks for a change at every call. A file that is unreadable or malformed,
 * for instance because it is being written, leaves the last good content in force.
 */
export function followFile<Content>(file: string, read: (file: string) => Content, first: Content): () => Content {
  let content = first;
  let seen = '';
  return function followed() {
    const status = statSync(file, { bigint: true, throwIfNoEntry: false });
    const version = status ? `${status.ino}:${status.size}:${status.mtimeNs}` : '';
    if (!status || version === seen) return content;
    try {
      content = read(file);
    } catch {
      return content;
    }
    if (Date.now() - Number(status.mtimeMs) > timeStampSettles) seen = version;
    return content;
  };
}

/** Reports each change of a file. Returns what ends the watch. */
export function watchChanges<Content>(
  file: string,
  read: (file: string) => Content,
  onChange: (change: Change<Content>) => void,
): () => void {
  const look = (): void => onChange(changeOf(file, read));
  watchFile(file, { interval: 500 }, look);
  return () => unwatchFile(file, look);
}

/** Milliseconds: a file that changed within them may change again without a new time stamp. */
const timeStampSettles = 50;

function changeOf<Content>(file: string, read: (file: string) => Content): Change<Content> {
  try {
    return { content: read(file) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
