import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'vitest';
import { command } from '../support/command.ts';
import { npmPackages } from './downloads.ts';
import { compileTypeScript, type DocumentName, documentFile, documentNames } from './languages.ts';
import { npmVersions } from './versions.ts';

it(`openapi-typescript ${npmVersions['openapi-typescript']} generates types that compile with openapi-fetch`, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-types-'));
  try {
    const cli = path.join(await npmPackages(), 'node_modules/openapi-typescript/bin/cli.js');
    for (const name of documentNames) {
      await command([process.execPath, cli, documentFile(name), '--output', path.join(folder, `${name}.ts`)]);
      writeFileSync(path.join(folder, `${name}-client.ts`), clientOf(name));
    }
    await compileTypeScript(
      folder,
      documentNames.map(name => `${name}-client.ts`),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function clientOf(name: DocumentName): string {
  return `import createClient from 'openapi-fetch';
import type { paths } from './${name}';
export const client = createClient<paths>({ baseUrl: '' });
`;
}
