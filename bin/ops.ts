/** The operator's command line: `npm run ops -- --help`. */
import './node-version.cjs';
import { enableCompileCache } from 'node:module';
import path from 'node:path';

// A command spends most of its time compiling the SDK: kept, the compiled code halves it.
enableCompileCache(path.join(import.meta.dirname, '../node_modules/.cache/ops'));

const { runOps } = await import('./ops/program.ts');
process.exitCode = await runOps(process.argv.slice(2));
