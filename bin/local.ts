/** The local run: `npm start -- --help`. The version of Node is checked before anything else is loaded. */
import './node-version.cjs';

const { runLocally } = await import('../ops/local/command.ts');
process.exit(await runLocally(process.argv.slice(2)));
