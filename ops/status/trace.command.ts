import { globSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Argument } from 'commander';
import { bundleHandlers } from '../../lib/constructs/bundle.ts';
import type { Noun } from '../audit/command.ts';
import type { Streams } from '../command-line/terminal.ts';

const notes = `
It reads log lines or a stack trace from standard input, and replaces positions in the bundle by positions in the source
files. Run it in a checkout of the commit that was deployed, after "npm ci". It needs no stage.

Example:
  cat lines.json | npm run --silent ops -- trace token`;

/** Creates the noun that replaces positions in function logs with positions in the sources. */
export function trace({ stdin, stdout }: Streams): Noun {
  const handlers = new Map(
    globSync('lambdas/**/*.handler.ts', { cwd: root }).map(entry => [basename(entry, '.handler.ts'), entry]),
  );
  const addTo: Noun['commands'][number]['addTo'] = noun => {
    noun
      .description('show source files and lines in an error that a function logged')
      .addArgument(new Argument('<function>', 'the function that logged it').choices([...handlers.keys()].sort()))
      .addHelpText('after', notes)
      .action(async (name: string) => {
        stdout.write(withSources(await text(stdin), handlers.get(name) ?? ''));
      });
  };
  return { name: 'trace', commands: [{ name: 'trace', effect: 'reads', addTo }] };
}

/** Replaces the positions in the bundle of a handler with the positions in its sources. */
function withSources(logged: string, entry: string): string {
  const content = bundleHandlers([entry], true).get(entry)?.get('index.mjs.map') ?? '';
  const map = new SourceMap(JSON.parse(String(content)));
  return logged.replace(/[\w:/.@-]{0,200}\/index\.mjs:(\d{1,9}):(\d{1,9})/g, (place, line, column) => {
    const found = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!('originalSource' in found) || found.generatedLine !== Number(line) - 1) return place;
    return `${found.originalSource}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

const root = join(import.meta.dirname, '../..');
