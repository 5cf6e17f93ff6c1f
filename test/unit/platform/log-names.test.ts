import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/logs.md'), 'utf8');

/** Names in the first column of the page's table. */
const listed = new Set(
  [...page.matchAll(/^\| (`[a-z_]+\.[a-z_]+`(?:, `[a-z_]+\.[a-z_]+`)*) \| (?:INFO|WARN|ERROR)/gm)].flatMap(
    ([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  ),
);

/** Every line that is logged in `lambdas/`: where, and the text of its name as the code has it. */
const logged = globSync('lambdas/**/*.ts', { cwd: root }).flatMap(file => {
  const code = readFileSync(join(root, file), 'utf8');
  return [...code.matchAll(/\blog(?:ger)?\??\.(?:debug|info|warn|error|critical)\(\s*([^,)]*)/g)].map(
    ({ 1: name = '' }) => [file, name.trim()] as const,
  );
});

/** `'a.b'`, `` `${endpoint}.b` `` and `condition ? 'a.b' : 'a.c'` as patterns of what they may come to; nothing else is a name. */
const patternsOf = (name: string): readonly RegExp[] | undefined => {
  const choices = /\?([^:]*):(.*)$/s.exec(name)?.slice(1) ?? [name];
  const patterns = choices.map(choice => {
    const text = /^(?:'([^']*)'|`([^`]*)`)$/s.exec(choice.trim());
    const shape = (text?.[1] ?? text?.[2] ?? '').replaceAll(/\$\{[^}]*\}/g, '*');
    return /^(?:[a-z_]+|\*)\.[a-z_]+$/.test(shape)
      ? new RegExp(`^${shape.replace('.', '\\.').replace('*', '[a-z_]+')}$`)
      : undefined;
  });
  return patterns.every(pattern => pattern !== undefined) ? patterns : undefined;
};

describe('the names of log lines', () => {
  it('are found at all', () => {
    expect(logged.length).toBeGreaterThan(20);
    expect(listed.size).toBeGreaterThan(20);
  });

  it.each(logged)('%s: %s is `area.event`, and stands in docs/logs.md', (_file, name) => {
    const patterns = patternsOf(name);
    expect(patterns, 'a literal of the form area.event').toBeDefined();
    for (const pattern of patterns ?? []) expect([...listed].filter(known => pattern.test(known))).not.toEqual([]);
  });
});
