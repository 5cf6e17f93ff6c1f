import path from 'node:path';
import { buildSync } from 'esbuild';

/** Returns the console as one file that needs Node.js 20 or later and nothing else. */
export function bundleConsole(): string {
  const { outputFiles } = buildSync({
    entryPoints: [path.join(import.meta.dirname, 'main.ts')],
    tsconfig: path.join(import.meta.dirname, '../tsconfig.json'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minify: true,
    legalComments: 'inline',
    logLevel: 'error',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** Loads the console into this process: Node does not run TSX. */
export async function loadConsole(): Promise<typeof import('./main.ts')> {
  return import(`data:text/javascript;base64,${Buffer.from(bundleConsole()).toString('base64')}`);
}
