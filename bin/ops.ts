/** The operator's command line: `npm run ops -- --help`. */
import './node-version.cjs';

// The reader of the output may close it before its end (`| head`).
process.stdout.on('error', error => process.exit('code' in error && error.code === 'EPIPE' ? process.exitCode : 1));

const { runOps } = await import('./ops/program.ts');
process.exitCode = await runOps(process.argv.slice(2));
