import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { messageOf, StartError } from './errors.ts';

/** Reads the hosts or faults file when a run starts. @throws {StartError} if the file is missing or malformed */
export function readAtStart<Content>(name: string, file: string, parse: (text: string) => Content): Content {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartError(`Could not use the ${name} file ${file}: ${messageOf(error)}`);
  }
}

/**
 * Creates a function that returns the current content of a file. Every call checks for changes. If reading or parsing
 * fails, for instance during a write, the function returns the last valid content.
 */
export function followFile<Content>(file: string, parse: (text: string) => Content, first: Content): () => Content {
  let content = first;
  let lastText = '';
  return function currentContent() {
    try {
      const text = readFileSync(file, 'utf8');
      if (text === lastText) return content;
      lastText = text;
      content = parse(text);
    } catch {
      // returns the last valid content
    }
    return content;
  };
}

/** Calls `onChange` after each change to a file, with the error if the file is invalid. Returns a function that stops watching. */
export function watchChanges(
  file: string,
  parse: (text: string) => unknown,
  onChange: (problem: string | undefined) => void,
): () => void {
  watchFile(file, { interval: 500 }, check);
  return () => unwatchFile(file, check);

  function check(): void {
    try {
      parse(readFileSync(file, 'utf8'));
      onChange(undefined);
    } catch (error) {
      onChange(messageOf(error));
    }
  }
}

/** Parses a JSON object. @throws {TypeError} if the text is not a JSON object */
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
