import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import type { PreloadSettings } from '../internet/preload-settings.ts';
import type { RuntimeSurroundings } from './variables.ts';

/**
 * Writes what function processes load besides their bundle. Both files are compiled once per run, because stripping
 * types would cost every process 30 ms.
 */
export async function writeRuntimeFiles(
  directory: string,
  preload: PreloadSettings,
  authorityCertificate: string,
): Promise<Omit<RuntimeSurroundings, 'endpoints'>> {
  await build({
    entryPoints: sources,
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'silent',
  });
  await stop(); // its process would stay for the next build
  const authorityFile = join(directory, 'authority.pem');
  writeFileSync(authorityFile, authorityCertificate);
  const preloadUrl = pathToFileURL(join(directory, 'preload.mjs'));
  preloadUrl.searchParams.set('settings', JSON.stringify(preload));
  return { authorityFile, bootstrapFile: join(directory, 'bootstrap.mjs'), preloadUrl: preloadUrl.href };
}

const sources = {
  bootstrap: fileURLToPath(import.meta.resolve('./bootstrap.ts')),
  preload: fileURLToPath(import.meta.resolve('../internet/preload.ts')),
};
