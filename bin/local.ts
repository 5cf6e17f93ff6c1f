/** The local run: `npm start -- --help`. It checks the version of Node before it loads anything else. */
import './node-version.cjs';

const { runLocally } = await import('../ops/local/command.ts');
process.exit(await runLocally(process.argv.slice(2)));
