import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bundleHandlers } from '../../lib/constructs/bundle.ts';

const root = join(import.meta.dirname, '../..');
mkdirSync(join(root, '.local'), { recursive: true });
const directory = mkdtempSync(join(root, '.local/handlers-')); // inside, where this project's packages are found
const packages = join(root, '.local/node_modules'); // above the folder that handlers are bundled in

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
  writePackage(join(packages, 'inner-package'), `export const made = () => 'by the project';`);
  writePackage(join(packages, 'outer-package'), `export * from 'jose';`);
});
afterAll(() => {
  for (const folder of [directory, ...['inner-package', 'outer-package'].map(name => join(packages, name))])
    rmSync(folder, { recursive: true });
});

it('a bundle keeps a package that another handler imports later, if one of its own packages imports it', () => {
  const defers = writeHandler(
    'defers.handler.ts',
    `export const handler = async () => (await import('jose')).decodeJwt('');`,
  );
  const imports = writeHandler('imports.handler.ts', `export { decodeJwt as handler } from 'outer-package';`);
  expect(() => bundleHandlers([imports])).not.toThrow();
  expect(() => bundleHandlers([defers, imports])).toThrow(/imports\.handler\.ts: one of its packages imports what/);
});

// Bug: packages in the folder for temporary files were found before those of the project.
it('a bundle has no package from the folder for temporary files', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'emissor-bundle-'));
  vi.stubEnv('TMPDIR', temporary);
  try {
    writePackage(join(temporary, 'node_modules/inner-package'), `export const made = () => 'elsewhere';`);
    const entry = writeHandler('made.handler.ts', `export { made as handler } from 'inner-package';`);
    const code = bundleHandlers([entry]).get(entry)?.get('index.mjs') ?? '';
    expect(Buffer.from(code).toString('utf8')).toContain('by the project');
  } finally {
    vi.unstubAllEnvs();
    rmSync(temporary, { recursive: true });
  }
});
