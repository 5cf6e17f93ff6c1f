import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nouns } from '../../../ops/program.ts';
import { runOpsInProcess } from '../../../tools/support/ops.ts';

const root = join(import.meta.dirname, '../../..');

const readHelps = async (): Promise<ReadonlyMap<string, string>> => {
  const loaded = await Promise.all(Object.values(nouns).map(load => load(process)));
  const words = loaded.flatMap(({ name, commands }) => [name, ...commands.map(command => command.name)]);
  const helps = await Promise.all(
    ['', ...new Set(words)].map(async name => {
      const { code, stdout, stderr } = await runOpsInProcess([...name.split(' ').filter(Boolean), '--help']);
      expect({ code, stderr }, name).toEqual({ code: 0, stderr: '' });
      return [name, stdout] as const;
    }),
  );
  return new Map(helps);
};

/** Returns the commands in a text, without `ops`. From prose, returns only commands with an argument or an option. */
const commandsIn = (text: string): string[] => {
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .matchAll(/npm run (--silent )?ops -- ([^`\n]*?)(?: +#.*| …)?(?=`|\n|$)/g);
  const prose = text.matchAll(/`ops ([a-z][^`]*)`/g);
  return [
    ...[...lines].flatMap(([, silent = '', words = '']) =>
      words.replaceAll(/--stage \S+|--json/g, '').trim() ? [`${silent}${words}`] : [],
    ),
    ...[...prose].flatMap(([, words = '']) =>
      /[A-Z]|--/.test(words) ? [`--silent ${words.replaceAll('\n', ' ')}`] : [],
    ),
  ];
};

const examples: Readonly<Record<string, string>> = {
  EVENT: 'demanda.criada',
  ID: 'evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H',
  REPLAY: 'reenvio_Zx81LmQ0pRtYv3Kd9sWbNc',
};
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain ?? '')
    .map(word => examples[word] ?? word);

describe('the commands in help and documents', async () => {
  const helps = await readHelps();
  const documents = globSync(['*.md', 'docs/*.md'], { cwd: root });
  const texts = [
    ...documents.map(file => [file, readFileSync(join(root, file), 'utf8')] as const),
    ...[...helps].map(([name, help]) => [`ops ${name} --help`, help] as const),
  ];
  const found = texts.flatMap(([where, text]) => commandsIn(text).map(command => [where, command] as const));

  it.each(found)('%s: %s', async (_where, command) => {
    const [silent, words] = command.startsWith('--silent ') ? [true, command.slice(9)] : [false, command];
    const args = wordsOf(words.replace(/--stage \S+ ?/, '').trim());
    // npm prints a banner before the JSON.
    if (args.includes('--json')) expect(silent).toBe(true);
    const failure = { code: 1, stderr: expect.stringContaining('Could not read /no/such/file') };
    const outcome = args[0] === 'trace' ? { code: 0 } : failure; // trace only reads standard input
    if (args.includes('--help')) return;
    expect(await runOpsInProcess(['--outputs', '/no/such/file', ...args])).toMatchObject(outcome);
  });

  it('include examples for every noun', () => {
    const bare = [...helps].filter(([name, help]) => !name.includes(' ') && !/npm run (--silent )?ops -- /.test(help));
    expect(bare.map(([name]) => name)).toEqual(['audit']); // the help of its only command has examples
  });

  it.each([...helps])('%s: lists --yes and --json, in lines of at most 130 characters', (_name, help) => {
    for (const option of ['--yes', '--json']) expect(help).toContain(option);
    expect(help.split('\n').filter(line => line.length > 130)).toEqual([]);
  });

  it('show no defaults for clients update, because omitted values stay unchanged', () => {
    expect(helps.get('clients update')).not.toMatch(/\bdefault\b/);
    expect(helps.get('clients create')).toMatch(/default:\s+all.*default 30/s);
  });
});
