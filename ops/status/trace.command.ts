import { globSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Argument } from 'commander';
import { bundleHandlers } from '../../lib/constructs/bundle.ts';
import type { Noun } from '../audit/command.ts';
import type { Streams } from '../command-line/terminal.ts';

const notes = `
The command reads log lines or a stack trace from standard input, and replaces positions in the bundle with positions in the
source files. Run it in a checkout of the deployed commit, after "npm ci". It requires no stage.

Example:
  cat lines.json | npm run --silent ops -- trace token`;

/** Creates the noun that replaces positions in the bundle with positions in the source files. */
export function trace({ stdin, stdout }: Streams): Noun {
  const handlers = new Map(
    globSync('lambdas/**/*.handler.ts', { cwd: root }).map(entry => [basename(entry, '.handler.ts'), entry]),
  );
  const addTo: Noun['commands'][number]['addTo'] = noun => {
    noun
      .description('show source files and lines in an error that a function logged')
      .addArgument(new Argument('<function>', 'the name of the function').choices([...handlers.keys()].sort()))
      .addHelpText('after', notes)
      .action(async (name: string) => {
        stdout.write(withSources(await text(stdin), handlers.get(name) ?? ''));
      });
  };
  return { name: 'trace', commands: [{ name: 'trace', effect: 'reads', addTo }] };
}

/** Replaces positions in a handler's bundle with positions in its source files. */
function withSources(logged: string, entry: string): string {
  const content = bundleHandlers([entry], true).get(entry)?.get('index.mjs.map') ?? '';
  const map = new SourceMap(JSON.parse(String(content)));
  return logged.replace(/[\w:/.@-]{0,200}\/index\.mjs:(\d{1,9}):(\d{1,9})/g, (position, line, column) => {
    const origin = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!('originalSource' in origin) || origin.generatedLine !== Number(line) - 1) return position;
    return `${origin.originalSource}:${origin.originalLine + 1}:${origin.originalColumn + 1}`;
  });
}

const root = join(import.meta.dirname, '../..');
