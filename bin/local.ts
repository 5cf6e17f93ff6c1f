/** Starts the local run (`npm start`). The version of Node is checked before any other module is loaded. */
import './node-version.cjs';

const { runLocally } = await import('../ops/local/command.ts');
process.exit(await runLocally(process.argv.slice(2)));
