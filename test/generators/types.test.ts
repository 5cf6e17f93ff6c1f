import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'vitest';
import { describeWith } from '../support/e2e-target.ts';
import { expectToServe } from './clients.ts';
import { command } from './commands.ts';
import { npmPackages } from './downloads.ts';
import { compileTypeScript, documentFile, documentNames } from './languages.ts';
import { npmVersions } from './versions.ts';

describeWith(['names'], `openapi-typescript ${npmVersions['openapi-typescript']}`, () => {
  it('its types, with openapi-fetch, work today and with what is added later', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'emissor-types-'));
    try {
      const cli = path.join(await npmPackages(), 'node_modules/openapi-typescript/bin/cli.js');
      for (const name of documentNames) {
        await command([process.execPath, cli, documentFile(name), '--output', path.join(folder, `${name}.ts`)]);
      }
      await expectToServe('openapi-typescript', await compileTypeScript(folder, 'openapi-typescript'), 'essentials');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
