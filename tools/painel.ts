import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';

/**
 * Writes `painel.mjs`, the panel that integrators run: one file that needs Node 20.3 or later and nothing else.
 * `npm run painel -- --out FILE`; without it the file is written here.
 */
const { values } = parseArgs({ options: { out: { type: 'string', default: 'painel.mjs' } } });
const outfile = resolve(process.env.INIT_CWD ?? '', values.out); // npm changes to the root of the repository
const { metafile } = buildSync({
  entryPoints: [resolve(import.meta.dirname, '../ops/console/painel.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.3', // of the syntax
  minify: true,
  legalComments: 'inline',
  metafile: true,
  logLevel: 'error',
});
// An import must not bring in the SDK: it does not run in one file, and doubles the download.
const strange = Object.keys(metafile.inputs).filter(file => /node_modules\/(?!zod\/)/.test(file));
if (strange.length > 0) throw new Error(`The panel needs Node only, and zod; this came in: ${strange[0]}`);
const text = readFileSync(outfile, 'utf8');
const later = /\b(?:URL\.parse|Promise\.try|withResolvers|fromAsync|groupBy)\(/.exec(text)?.[0];
if (later) throw new Error(`Node 20.3 has no ${later}).`);
const [{ bytes = 0 } = {}] = Object.values(metafile.outputs);
console.log(`${outfile}: ${Math.ceil(bytes / 1_024)} KiB`);
