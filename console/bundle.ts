import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';

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

export async function loadConsole(): Promise<typeof import('./main.ts')> {
  return import(`data:text/javascript;base64,${Buffer.from(bundleConsole()).toString('base64')}`);
}

// `npm run console` serves the console of a stage. With `--bundle FILE`, it writes the bundle for integrators instead.
if (import.meta.main) {
  const args = process.argv.slice(2);
  const [option, file] = args;
  if (option === '--bundle' && file !== undefined && args.length === 2) {
    const target = path.resolve(process.env.INIT_CWD ?? '', file); // npm runs scripts in the repository root
    const text = bundleConsole();
    writeFileSync(target, text);
    console.log(`${target}: ${Math.ceil(text.length / 1_024)} KiB`);
  } else {
    const { runConsole } = await loadConsole();
    process.exitCode = await runConsole(args);
  }
}
