/** The local run: `npm start -- --help`. Nothing else is loaded before the version of Node has been looked at. */
import './node-version.cjs';

const { runLocally } = await import('../local/command.ts');
process.exit(await runLocally(process.argv.slice(2)));
