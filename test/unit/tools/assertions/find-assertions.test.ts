import { describe, expect, it } from 'vitest';
import { findAssertions, type Kind } from '../../../../tools/assertions/find-assertions.ts';

const find = (source: string) => findAssertions('source.ts', source);

describe('what a program asserts is found', () => {
  it.each<[Kind | `${Kind}, ${Kind}`, string]>([
    ['as T', 'const a = b as string;'],
    ['as T', 'const a = <string>b;'],
    ['as T', 'const a = ["b"] as const as readonly string[];'],
    ['as unknown as', 'const a = b as unknown as string;'],
    ['as unknown as', 'const a = (b as unknown) as string;'],
    ['as unknown as', 'const a = <string><unknown>b;'],
    ['as unknown as', 'const a = b as never as string;'],
    ['any, as unknown as', 'const a = b as any as string;'],
    ['as never', 'const a = b as never;'],
    ['as never', 'const a = <never>b;'],
    ['any, as T', 'const a = b as any;'],
    ['any', 'let a: any;'],
    ['!', 'const a = b!;'],
    ['!', 'let a!: string;'],
    ['!', 'class A { b!: string; }'],
    ['!', 'class A { accessor b!: string; }'],
    ['is T', 'function a(b: unknown): b is string { return true; }'],
    ['is T', 'function a(b: unknown): asserts b is string {}'],
    ['@ts-', '// @ts-expect-error\na();'],
    ['@ts-', '/// @ts-ignore\na();'],
    ['@ts-', '/*\n * @ts-ignore\n */\na();'],
    ['@ts-', '// @ts-nocheck\na();'],
    ['biome-ignore', '// biome-ignore lint/suspicious/noExplicitAny: why\na();'],
    ['biome-ignore', '/** biome-ignore-all lint: why */\na();'],
    ['biome-ignore', 'a([ // biome-ignore format: why\n]);'],
  ])('%s: %s', (kinds, source) => {
    expect(
      find(source)
        .map(({ kind }) => kind)
        .sort()
        .join(', '),
    ).toBe(kinds);
  });
});

describe('what is checked, or no program, is not counted', () => {
  it.each([
    'const a = ["b"] as const;',
    'const a = <const>["b"];',
    'const a = b satisfies string;',
    'import { a as b } from "c";',
    'const as = 1; const a = [as, as];',
    'const is = a; const any = !b; const never = c !== d;',
    'const a = "b as unknown as c, d!, any, @ts-ignore, biome-ignore";',
    '// b as unknown as c, d!, any',
    '// It has no @ts-ignore, and no biome-ignore.',
    '// @ts-ignored',
  ])('%s', source => expect(find(source)).toEqual([]));
});

describe('the reason of an assertion', () => {
  it.each([
    ['// Why.\nconst a = b as unknown as string;', 'Why.'],
    ['// Why,\n// and why.\nconst a = b as unknown as string;', 'Why, and why.'],
    ['// Why.\nexport const a = {\n  b,\n} as unknown as string;', 'Why.'],
    ['// Why.\nconst a =\n  b as unknown as string;', 'Why.'],
    ['const a = b as unknown as string;', ''],
    ['// Not about it.\n\nconst a = b as unknown as string;', ''],
    ['/** Not why. */\nconst a = b as unknown as string;', ''],
    ['// biome-ignore lint: Not why.\nconst a = b as unknown as string;', '', ''],
    ['// Not about it.\nfunction a() {\n  return b as unknown as string;\n}', ''],
    ['// Of the first.\nconst a = b as unknown as string;\nconst c = d as unknown as string;', 'Of the first.', ''],
  ])('%s', (source, ...reasons) => {
    expect(find(source).map(({ reason }) => reason)).toEqual(reasons);
  });
});

it('tells the line, and the text', () => {
  const source = '// é 🤨\nconst a = {\n  b,\n} as unknown as string;';
  expect(find(source)).toMatchObject([{ line: 4, text: '{\n  b,\n} as unknown as string' }]);
});

it('refuses what is no TypeScript, in place of finding nothing in it', () => {
  expect(() => find('const a = ;')).toThrow('source.ts');
});
