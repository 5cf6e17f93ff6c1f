import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bundleHandlers } from '../../lib/constructs/bundle.ts';

const root = join(import.meta.dirname, '../..');
mkdirSync(join(root, '.local'), { recursive: true });
const directory = mkdtempSync(join(root, '.local/handlers-')); // inside the project, to resolve its packages
const packages = join(root, '.local/node_modules'); // in a parent folder of the temporary bundles

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

it('bundleHandlers rejects a dependency that imports a package that another handler imports dynamically', () => {
  const defers = writeHandler(
    'defers.handler.ts',
    `export const handler = async () => (await import('jose')).decodeJwt('');`,
  );
  const imports = writeHandler('imports.handler.ts', `export { decodeJwt as handler } from 'outer-package';`);
  expect(() => bundleHandlers([imports])).not.toThrow();
  expect(() => bundleHandlers([defers, imports])).toThrow(/imports\.handler\.ts: a dependency imports a package/);
});

// Bug: esbuild searched the system's temporary folder for packages before the project.
it("bundleHandlers ignores packages in the system's temporary folder", () => {
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
