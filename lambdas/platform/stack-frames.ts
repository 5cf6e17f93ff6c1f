import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The latest stack frames of an error, mapped from the bundle to file, line and column of the source. Frames of packages are
 * left out, except the one that threw. The message, which the stack quotes, is left out too.
 */
export function stackFrames(error: Error): readonly string[] {
  const frames = linesAfterMessage(error).flatMap(line => parseFrame(line) ?? []);
  const [first] = frames;
  if (!first || !sourceMap()) return frames.slice(0, maximumFrames).map(({ text }) => text);
  const sources = frames.map(toSource);
  const own = sources.filter(frame => frame !== undefined);
  return [...(sources[0] === undefined ? [first.text] : []), ...own].slice(0, maximumFrames);
}

/** Returns the stack without the message, whose lines may look like frames. */
function linesAfterMessage({ stack, message }: Error): readonly string[] {
  if (typeof stack !== 'string') return [];
  const start = stack.indexOf(message);
  return stack.slice(start === -1 ? 0 : start + message.length).split('\n');
}

function parseFrame(line: string): Frame | undefined {
  const match = /^\s+at (?:(.*) \()?((?:file:\/\/|node:|\/)[^()]*):(\d+):(\d+)\)?$/.exec(line);
  if (!match) return undefined;
  const [text, name = '', file = '', row, column] = match;
  return { text: text.trim(), name, file, line: Number(row), column: Number(column) };
}

/** Returns the source map beside the bundle, read with the first error. Unbundled code has none. */
function sourceMap(): SourceMap | undefined {
  known ??= { map: readMap() };
  return known.map;
}

/** Enough to tell where an error comes from. */
const maximumFrames = 5;

/** Returns the frame as a position in this project's source, if it is in that. */
function toSource({ name, file, line, column }: Frame): string | undefined {
  const entry = file === bundle ? sourceMap()?.findEntry(line - 1, column - 1) : undefined;
  if (!isOrigin(entry)) return undefined;
  const place = `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  return name === '' ? `at ${place}` : `at ${name} (${place})`;
}

interface Frame {
  /** Without the indentation: `at handler (file:///var/task/index.mjs:2:1044)`. */
  readonly text: string;
  /** `async handler`, or nothing for code outside of functions. */
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The bundle's source map, once it was read. */
let known: { readonly map: SourceMap | undefined } | undefined;

function readMap(): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(bundle)}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}

/** In a bundle this module's URL is the bundle's. */
const bundle = import.meta.url;

/** Returns whether a frame has a mapping. One without yields an empty object, whatever the type says. */
function isOrigin(entry: object | undefined): entry is SourceMapping {
  return entry !== undefined && 'originalSource' in entry && typeof entry.originalSource === 'string';
}
