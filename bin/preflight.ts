/** The check before a deployment: `npm run preflight -- --stage NAME`. */
import './node-version.cjs';

const { runPreflight } = await import('../ops/preflight/program.ts');
process.exitCode = await runPreflight(process.argv.slice(2));
