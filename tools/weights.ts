import { execFileSync } from 'node:child_process';
import path from 'node:path';

/*
 * `npm run weights` shows the lines of each folder, and exits with 1 if a folder has more than its bound. The bounds only fall.
 */

/** Git's paths of a folder, separated by spaces, and the most lines of its text files. `:!` excludes a path. */
const bounds: Readonly<Record<string, number>> = {
  'lambdas/auth': 5_224,
  'lambdas/webhooks': 1_229,
  'lambdas/delivery': 8_932,
  'lambdas/platform': 4_430,
  'lambdas/api lambdas/base-api': 1_124,
  'lambdas/smoke': 1_154,
  'lib stages': 4_264,
  'ops bin :!ops/console': 12_247,
  'ops/console': 7_016,
  'packages/virtual-cloud packages/local-cloud': 14_424,
  'packages/publisher': 2_691,
  lab: 12_848,
  tools: 3_847,
  'test :!test/generators/recorded': 55_309,
  'docs :!docs/api': 7_492,
  'site :!site/package-lock.json': 449,
};

const rows = Object.entries(bounds).map(([folder, bound]) => ({ folder, lines: linesOf(folder), bound }));
console.table(Object.fromEntries(rows.map(({ folder, ...row }) => [folder, row])));
for (const { folder, lines, bound } of rows.filter(({ lines, bound }) => lines > bound)) {
  console.error(`${folder} has ${lines} lines; the bound in tools/weights.ts is ${bound}. Remove lines.`);
  process.exitCode = 1;
}

/** Returns the lines of the text files that Git knows. */
function linesOf(folder: string): number {
  const options = { cwd: path.join(import.meta.dirname, '..'), encoding: 'utf8' } as const;
  const counts = execFileSync('git', ['grep', '-I', '-h', '--count', '-e', '', '--', ...folder.split(' ')], options);
  return counts.split('\n').reduce((sum, count) => sum + Number(count), 0);
}
