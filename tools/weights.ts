import { execFileSync } from 'node:child_process';
import path from 'node:path';

/*
 * Prints the number of lines in each folder (`npm run weights`). It exits with 1 if a folder exceeds its limit. Limits must never increase.
 */

/** The maximum number of lines in text files, by Git paths separated by spaces. `:!` excludes a path. */
const limits: Readonly<Record<string, number>> = {
  'lambdas/auth': 3_625,
  'lambdas/webhooks': 1_025,
  'lambdas/delivery': 6_100,
  'lambdas/platform': 3_467,
  'lambdas/api lambdas/base-api': 1_071,
  'lambdas/smoke': 368,
  'lib stages': 3_148,
  'ops bin': 10_898,
  console: 3_498,
  'packages/cloud': 10_858,
  'packages/publisher': 405,
  lab: 10_316,
  tools: 3_620,
  'test :!test/generators/recorded': 29_782,
  'docs :!docs/api': 5_988,
  'site :!site/package-lock.json': 548,
};

const rows = Object.entries(limits).map(([folder, limit]) => ({ folder, lines: linesOf(folder), limit }));
console.table(Object.fromEntries(rows.map(({ folder, ...row }) => [folder, row])));
for (const { folder, lines, limit } of rows.filter(({ lines, limit }) => lines > limit)) {
  console.error(`${folder} has ${lines} lines, but its limit in tools/weights.ts is ${limit}. Remove lines.`);
  process.exitCode = 1;
}

/** Returns the number of lines in the text files that Git tracks. */
function linesOf(folder: string): number {
  const options = { cwd: path.join(import.meta.dirname, '..'), encoding: 'utf8' } as const;
  const counts = execFileSync('git', ['grep', '-I', '-h', '--count', '-e', '', '--', ...folder.split(' ')], options);
  return counts.split('\n').reduce((sum, count) => sum + Number(count), 0);
}
