/** The first day on AWS: `npm run first-day -- --stage NAME`. */
import './node-version.cjs';

const { runFirstDay } = await import('./first-day/program.ts');
process.exitCode = await runFirstDay(process.argv.slice(2));
