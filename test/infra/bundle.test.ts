import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bundleHandlers } from '../../lib/constructs/bundle.ts';

const root = join(import.meta.dirname, '../..');
mkdirSync(join(root, '.local'), { recursive: true });
const directory = mkdtempSync(join(root, '.local/handlers-')); // inside the project, to resolve its packages
const packages = join(root, '.local/node_modules'); // in a parent of the folder that handlers are bundled in

const writePackage = (folder: string, code: string) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.js'), code);
  writeFileSync(join(folder, 'package.json'), '{"type":"module","main":"index.js"}');
};
const writeHandler = (name: string, code: string): string => {
  writeFileSync(join(directory, name), code);
  return join(directory, name);
};

beforeAll(() => {
  writePackage(join(packages, 'inner-package'), `export const source = () => 'from the project';`);
  writePackage(join(packages, 'outer-package'), `export * from 'jose';`);
});
afterAll(() => {
  for (const folder of [directory, ...['inner-package', 'outer-package'].map(name => join(packages, name))])
    rmSync(folder, { recursive: true });
});

it('bundleHandlers rejects a dependency that imports a package deferred by another handler', () => {
  const defers = writeHandler(
    'defers.handler.ts',
    `export const handler = async () => (await import('jose')).decodeJwt('');`,
  );
  const imports = writeHandler('imports.handler.ts', `export { decodeJwt as handler } from 'outer-package';`);
  expect(() => bundleHandlers([imports])).not.toThrow();
  expect(() => bundleHandlers([defers, imports])).toThrow(/imports\.handler\.ts: a dependency imports a package/);
});

// Bug: esbuild resolved packages from the folder for temporary files before packages of the project.
it('bundleHandlers ignores packages in the folder for temporary files', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'emissor-bundle-'));
  vi.stubEnv('TMPDIR', temporary);
  try {
    writePackage(join(temporary, 'node_modules/inner-package'), `export const source = () => 'from elsewhere';`);
    const entry = writeHandler('source.handler.ts', `export { source as handler } from 'inner-package';`);
    const code = bundleHandlers([entry]).get(entry)?.get('index.mjs') ?? '';
    expect(Buffer.from(code).toString('utf8')).toContain('from the project');
  } finally {
    vi.unstubAllEnvs();
    rmSync(temporary, { recursive: true });
  }
});
