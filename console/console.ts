/** `npm run console`: serves the console of a stage, or with `--bundle FILE` writes it as one file for integrators. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleConsole, loadConsole } from './bundle.ts';

const args = process.argv.slice(2);
const [option, file] = args;
if (option === '--bundle' && file !== undefined && args.length === 2) {
  const target = path.resolve(process.env.INIT_CWD ?? '', file); // npm changes to the root of the repository
  const text = bundleConsole();
  writeFileSync(target, text);
  console.log(`${target}: ${Math.ceil(text.length / 1_024)} KiB`);
} else {
  const { runConsole } = await loadConsole();
  process.exitCode = await runConsole(args);
}
