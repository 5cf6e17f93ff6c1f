import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { messageOf, StartError } from './errors.ts';

/** Reads a file named in the request: `hosts` or `faults`. @throws {StartError} if it cannot be used */
export function readAtStart<Content>(what: string, file: string, parse: (text: string) => Content): Content {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartError(`The ${what} file ${file} cannot be used: ${messageOf(error)}`);
  }
}

/**
 * Creates a function that returns the current content of a file. Every call checks for changes. If a file cannot be
 * read or parsed, for instance during a write, the last good content remains in force.
 */
export function followFile<Content>(file: string, parse: (text: string) => Content, first: Content): () => Content {
  let content = first;
  let seen = '';
  return function followed() {
    try {
      const text = readFileSync(file, 'utf8');
      if (text === seen) return content;
      seen = text;
      content = parse(text);
    } catch {
      // the last good content
    }
    return content;
  };
}

/** Reports each change of a file, with the problem if it cannot be used. Returns a function that ends the watch. */
export function watchChanges(
  file: string,
  parse: (text: string) => unknown,
  onChange: (problem: string | undefined) => void,
): () => void {
  watchFile(file, { interval: 500 }, look);
  return () => unwatchFile(file, look);

  function look(): void {
    try {
      parse(readFileSync(file, 'utf8'));
      onChange(undefined);
    } catch (error) {
      onChange(messageOf(error));
    }
  }
}

/** Parses the text of such a file. @throws {TypeError} if it is not a JSON object */
export function parseObject(text: string): object {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new TypeError('It is not JSON.');
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  throw new TypeError('It must be one JSON object.');
}
