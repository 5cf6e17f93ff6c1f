import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';

/**
 * Writes `painel.mjs`, the panel that integrators run: one file that needs Node 20 or later and nothing else.
 * `npm run painel -- --out FILE`; without it the file is written here.
 */
const { values } = parseArgs({ options: { out: { type: 'string', default: 'painel.mjs' } } });
const outfile = resolve(values.out);
const { metafile } = buildSync({
  entryPoints: [resolve(import.meta.dirname, '../ops/console/painel.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minify: true,
  legalComments: 'inline',
  metafile: true,
  logLevel: 'error',
});
// What the operators' pages need must not come in by an import: it does not run in one file, and doubles the download.
const strange = Object.keys(metafile.inputs).filter(file => /node_modules\/(?!zod\/)/.test(file));
if (strange.length > 0) throw new Error(`The panel needs Node only, and zod; this came in: ${strange[0]}`);
const [{ bytes = 0 } = {}] = Object.values(metafile.outputs);
console.log(`${outfile}: ${Math.ceil(bytes / 1_024)} KiB`);
