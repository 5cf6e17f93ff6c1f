/** Starts the local run (`npm start`). Checks the Node version before it loads any other module. */
import './node-version.cjs';

const { runLocally } = await import('../ops/local/command.ts');
process.exit(await runLocally(process.argv.slice(2)));
