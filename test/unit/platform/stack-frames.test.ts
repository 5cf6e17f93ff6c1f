import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleHandlers, writeBundle } from '../../../lib/constructs/bundle.ts';

const canary = 'canary-91c2';
const root = join(import.meta.dirname, '../../..');
const platform = join(root, 'lambdas/platform');
mkdirSync(join(root, '.local'), { recursive: true });
const directory = mkdtempSync(join(root, '.local/frames-')); // inside, where this project's packages are found
const cleanPackage = join(root, '.local/node_modules/clean-package'); // above the folder that handlers are bundled in

/** A handler as it would be written: what it calls throws, in another file; so does a package. */
const files = {
  'charge-card.ts': `import { clean } from 'clean-package';
    interface Card { readonly number: string }
    export async function chargeCard(card: Card): Promise<void> {
      await Promise.resolve();
      throw new RangeError('no such card: ' + card.number);
    }
    export const cleanCard = (card: Card): string => clean(card.number);`,
  'shop.handler.ts': `import { describeError } from '${platform}/telemetry.ts';
    import { chargeCard, cleanCard } from './charge-card.ts';
    export const handler = async (event: { readonly number: string; readonly how: string }) => {
      try {
        if (event.how === 'package') cleanCard(event);
        else await chargeCard(event);
      } catch (error) {
        return describeError(error);
      }
      return undefined;
    };`,
};

const describeIn = (bundle: string, how: string): { errorName: string; at: string[] } => {
  const script = `const { handler } = await import(process.argv[1]);
    process.stdout.write(JSON.stringify(await handler({ number: '${canary}', how: '${how}' })));`;
  const words = ['--input-type=module', '-e', script, bundle];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8', env: {} }));
};

let bundle: string;

beforeAll(() => {
  mkdirSync(cleanPackage, { recursive: true });
  for (const [name, code] of Object.entries(files)) writeFileSync(join(directory, name), code);
  writeFileSync(
    join(cleanPackage, 'index.js'),
    `export function clean(text) { throw new TypeError('not clean: ' + text); }`,
  );
  writeFileSync(join(cleanPackage, 'package.json'), '{"type":"module","main":"index.js"}');
  const entry = join(directory, 'shop.handler.ts');
  bundle = writeBundle(bundleHandlers([entry]).get(entry), join(directory, 'asset'));
});
afterAll(() => {
  for (const folder of [directory, cleanPackage]) rmSync(folder, { recursive: true });
});

it('a package that another handler defers is not left out of a bundle that a package imports it in', () => {
  const outer = join(root, '.local/node_modules/outer-package');
  const [defers, imports] = ['defers', 'imports'].map(name => join(directory, `${name}.handler.ts`)) as [
    string,
    string,
  ];
  mkdirSync(outer);
  writeFileSync(join(outer, 'package.json'), '{"type":"module","main":"index.js"}');
  writeFileSync(join(outer, 'index.js'), `export * from '@jridgewell/sourcemap-codec';`);
  writeFileSync(defers, `export const handler = async () => (await import('@jridgewell/sourcemap-codec')).decode('');`);
  writeFileSync(imports, `export { decode as handler } from 'outer-package';`);
  try {
    expect(() => bundleHandlers([imports])).not.toThrow();
    expect(() => bundleHandlers([defers, imports])).toThrow(/imports\.handler\.ts: one of its packages imports what/);
  } finally {
    rmSync(outer, { recursive: true });
  }
});

// Bug: packages in the machine's folder for temporary files came before the project's own.
it('a bundle takes no package from the folder for temporary files', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'emissor-frames-'));
  vi.stubEnv('TMPDIR', temporary);
  try {
    const folder = join(temporary, 'node_modules/clean-package');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.js'), `export const clean = () => 'from elsewhere';`);
    writeFileSync(join(folder, 'package.json'), '{"type":"module","main":"index.js"}');
    const entry = join(directory, 'shop.handler.ts');
    const code = bundleHandlers([entry]).get(entry)?.get('index.mjs') ?? '';
    expect(Buffer.from(code).toString('utf8')).toContain('not clean: ');
  } finally {
    vi.unstubAllEnvs();
    rmSync(temporary, { recursive: true });
  }
});

describe('an error thrown in a bundled function', () => {
  it('is given by file, line and function of the source', () => {
    const { errorName, at } = describeIn(bundle, 'own');
    expect(errorName).toBe('RangeError');
    expect(at[0]).toMatch(/^at (async )?chargeCard \(\S*charge-card\.ts:5:\d+\)$/);
    expect(at[1]).toMatch(/^at (async )?\S*handler \(\S*shop\.handler\.ts:6:\d+\)$/);
    expect(JSON.stringify(at)).not.toContain(canary);
  });

  it('from a package is given by its position in the bundle, then by our frames', () => {
    const { at } = describeIn(bundle, 'package');
    expect(at[0]).toMatch(/^at \S+ \(file:.*index\.mjs:\d+:\d+\)$/);
    expect(at[1]).toMatch(/^at cleanCard \(\S*charge-card\.ts:7:\d+\)$/);
    expect(JSON.stringify(at)).not.toContain(canary);
  });

  it('is given by its position in the bundle when the map is missing', () => {
    const alone = join(directory, 'alone.mjs');
    writeFileSync(alone, readFileSync(bundle));
    expect(describeIn(alone, 'own').at[0]).toMatch(/^at (async )?chargeCard \(file:.*alone\.mjs:\d+:\d+\)$/);
  });
});

it('the deployed map holds neither source text nor packages, and names files relative to the project’s root', () => {
  const entry = 'lambdas/auth/endpoints/token.handler.ts';
  const asset = writeBundle(bundleHandlers([entry]).get(entry), join(directory, 'token'));
  const map = JSON.parse(readFileSync(`${asset}.map`, 'utf8'));
  expect(map).not.toHaveProperty('sourcesContent');
  expect(map.sources).toContain('lambdas/auth/endpoints/token-endpoint.ts');
  expect(map.sources.filter((source: string) => !source.startsWith('lambdas/'))).toEqual([]);
});
