import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runOpsInProcess } from '../../../tools/support/ops.ts';

const root = join(import.meta.dirname, '../../..');
const nouns = [
  'clients',
  'users',
  'sessions',
  'keys',
  'webhooks',
  'publish',
  'deliveries',
  'events',
  'dlq',
  'status',
  'smoke',
];

const helpOf = async (...words: string[]) => (await runOpsInProcess([...words, '--help'])).stdout;

/** The verbs that the help of a noun lists, each on a line that begins with it. */
const verbsIn = (help: string): string[] => {
  const commands = help.split('Commands:\n')[1]?.split('\n\n')[0] ?? '';
  return [...commands.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, verb]) => (verb && verb !== 'help' ? [verb] : []));
};

/** All texts that contain commands, by their names. */
const readTexts = async (): Promise<Map<string, string>> => {
  const texts = new Map<string, string>();
  for (const file of globSync(['*.md', 'docs/*.md'], { cwd: root })) {
    texts.set(file, readFileSync(join(root, file), 'utf8'));
  }
  texts.set('ops --help', await helpOf());
  for (const noun of nouns) {
    const help = await helpOf(noun);
    texts.set(`ops ${noun} --help`, help);
    for (const verb of verbsIn(help)) texts.set(`ops ${noun} ${verb} --help`, await helpOf(noun, verb));
  }
  return texts;
};

/** The commands in a text, without `ops`: lines of examples, and in prose those with more than a noun and a verb. */
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

/** The words of a command, with valid values in place of placeholders. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain ?? '')
    .map(word => ({ EVENT: 'demanda.criada', ID: 'evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H' })[word] ?? word);

describe('the commands in help and documents', async () => {
  const texts = await readTexts();
  const told = [...texts].flatMap(([where, text]) => commandsIn(text).map(command => [where, command] as const));

  it.each(told)('%s: %s', async (_where, command) => {
    const [silent, words] = command.startsWith('--silent ') ? [true, command.slice(9)] : [false, command];
    const args = wordsOf(words.replace(/--stage \S+ ?/, '').trim());
    // npm puts a banner of its own before the JSON.
    if (args.includes('--json')) expect(silent).toBe(true);
    const understood = { code: 1, stderr: expect.stringContaining('/no/such/file cannot be read') };
    if (!args.includes('--help')) {
      expect(await runOpsInProcess(['--outputs', '/no/such/file', ...args])).toMatchObject(understood);
    }
  });

  it('are in the help of every noun', () => {
    for (const noun of nouns) expect(commandsIn(texts.get(`ops ${noun} --help`) ?? ''), noun).not.toEqual([]);
  });
});

describe('the help of clients update', () => {
  it('names no default, because what is not given stays as it was', async () => {
    expect(await helpOf('clients', 'update')).not.toMatch(/\bdefault\b/);
    expect(await helpOf('clients', 'create')).toMatch(/default: all.*default 30/s);
  });
});

describe('the help of every command', () => {
  it('offers --yes, so that scripts may give it to each', async () => {
    for (const noun of nouns) expect(await helpOf(noun), noun).toContain('--yes');
    expect(await helpOf('sessions', 'end')).toContain('--yes');
  });
});

it('no line of help is longer than a terminal is wide', async () => {
  const helps = [await helpOf()];
  for (const noun of verbsIn(helps[0] ?? '')) {
    const help = await helpOf(noun);
    helps.push(help, ...(await Promise.all(verbsIn(help).map(verb => helpOf(noun, verb)))));
  }
  expect(helps.length).toBeGreaterThan(60);
  expect(helps.flatMap(help => help.split('\n')).filter(line => line.length > 130)).toEqual([]);
});
