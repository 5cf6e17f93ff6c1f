import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { findAssertions, type Kind, kinds } from './find-assertions.ts';
import { judge, type Place } from './judge.ts';

/*
 * `npm run assertions`: shows what the product asserts and the compiler does not check, by room and kind. Ends with 1 where a room
 * asserts more often than `most.json` allows, and where `as unknown as` has no reason beside it or stands in more than eight places.
 */

const root = path.join(import.meta.dirname, '../..');

/** The tests of the packages and of the laboratory are no product. */
const files = globSync('{lambdas,lib,stages,bin,ops,packages/*/src,tools,lab}/**/*.{ts,mts,cts,tsx}', {
  cwd: root,
  exclude: ['lab/test/**'],
}).sort();
const places = files.flatMap(readPlaces);
const { failures, remarks } = judge(places, readMost());

console.table(tableOf([...new Set(files.map(roomOf))]));
show('Predicates, whose functions have to check what they say:', linesOf('is T', 'text'));
show('"as unknown as", and why:', linesOf('as unknown as', 'reason'));
show('Better than it has to be:', remarks);
show('Wrong:', failures);
process.exitCode = failures.length > 0 ? 1 : 0;

function readPlaces(file: string): Place[] {
  const source = readFileSync(path.join(root, file), 'utf8');
  return findAssertions(file, source).map(found => ({ ...found, room: roomOf(file), file }));
}

/** Returns the first folder of a path; of a package, its `src`. */
function roomOf(file: string): string {
  return file.split('/', file.startsWith('packages/') ? 3 : 1).join('/');
}

/** Reads how often each room may assert. The numbers only ever fall. */
function readMost(): Record<string, number> {
  const text = readFileSync(path.join(import.meta.dirname, 'most.json'), 'utf8');
  return z.record(z.string(), z.int().nonnegative()).parse(JSON.parse(text));
}

/** Returns the counts of rooms, and of the whole, by kind and in all. */
function tableOf(rooms: readonly string[]): Record<string, Record<string, number>> {
  const rows = rooms.map(room => [room, countsOf(places.filter(place => place.room === room))] as const);
  return Object.fromEntries([...rows, ['all', countsOf(places)]]);
}

function countsOf(some: readonly Place[]): Record<string, number> {
  const ofKinds = kinds.map(kind => [kind, some.filter(place => place.kind === kind).length] as const);
  return Object.fromEntries([...ofKinds, ['all', some.length]]);
}

function linesOf(kind: Kind, said: 'text' | 'reason'): string[] {
  return places.filter(place => place.kind === kind).map(place => `${place.file}:${place.line}  ${place[said]}`);
}

function show(head: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`${head}\n${lines.map(line => `  ${line}`).join('\n')}`);
}
