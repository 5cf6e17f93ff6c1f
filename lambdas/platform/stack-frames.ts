import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Where an error was thrown: its latest stack frames, those of a bundle as file, line and column of the source. Frames of
 * packages are left out, but for the one that threw. Of the message, which the stack quotes, nothing gets through.
 */
export function stackFrames(error: Error): readonly string[] {
  const frames = linesAfterMessage(error).flatMap(line => parseFrame(line) ?? []);
  const [first] = frames;
  if (!first || !mapOfBundle()) return frames.slice(0, mostFrames).map(({ text }) => text);
  const sources = frames.map(toSource);
  const own = sources.filter(frame => frame !== undefined);
  return [...(sources[0] === undefined ? [first.text] : []), ...own].slice(0, mostFrames);
}

/** A message may have lines that look like frames. */
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

/** The map that lies beside the bundle; nothing reads it before there is an error. There is none where nothing was bundled. */
function mapOfBundle(): SourceMap | undefined {
  known ??= { map: readMap() };
  return known.map;
}

/** As many as tell where an error comes from. */
const mostFrames = 5;

/** The frame in terms of the source, if it is this project's. */
function toSource({ name, file, line, column }: Frame): string | undefined {
  const entry = file === bundle ? mapOfBundle()?.findEntry(line - 1, column - 1) : undefined;
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

/** The bundle's map, once an error was described: kept for the life of the process. */
let known: { readonly map: SourceMap | undefined } | undefined;

function readMap(): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(bundle)}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Bundled, this module is the bundle. */
const bundle = import.meta.url;

/** What belongs to nobody has no source, whatever the type says. */
function isOrigin(entry: object | undefined): entry is SourceMapping {
  return entry !== undefined && 'originalSource' in entry && typeof entry.originalSource === 'string';
}
