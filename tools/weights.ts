import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/*
 * `npm run weights`: shows what a stranger has to read, by room: the lines and bytes of the files of the commit that are text, and the
 * share of lines that are comments. Ends with 1 where a room has more lines than it may. These bounds fall; they rose
 * seven times: when the alarms and the way back got what ten incidents asked of them, when the console learnt to register, to chart, to
 * lead a newcomer and to say what it could not read, when the pages became a site with "Nothing arrived" in both languages, by the mends
 * and tests of some hundred and seventy faults that twenty-four readers found, when the judges of worlds learnt to see fifty faults more,
 * by the mends of forty faults of the service and of its operators' commands, and by those of fifty more, of pages and samples, too.
 */

const root = path.join(import.meta.dirname, '..');

/** The rooms, each with what belongs to it. A file belongs to the first that takes it. */
const rooms: readonly { name: string; takes: RegExp; most: number }[] = [
  {
    name: 'generated',
    takes: /^docs\/api\/|^(site\/)?package-lock\.json$|^packages\/publisher\/(src\/events\.ts|python\/.*\/events\.py)$/,
    most: 19_075,
  },
  { name: 'service', takes: /^(lambdas|lib|stages)\//, most: 26_420 },
  { name: 'ops', takes: /^(bin|ops)\//, most: 19_310 },
  { name: 'lab', takes: /^lab\//, most: 12_870 },
  { name: 'virtual-cloud', takes: /^packages\/virtual-cloud\//, most: 4_540 },
  { name: 'local-cloud', takes: /^packages\/local-cloud\//, most: 10_170 },
  { name: 'publisher', takes: /^packages\/publisher\//, most: 2_210 },
  { name: 'tools', takes: /^tools\//, most: 4_350 },
  { name: 'site', takes: /^site\//, most: 450 },
  { name: 'test', takes: /^test\//, most: 56_610 },
  { name: 'docs', takes: /^docs\//, most: 7_525 },
  { name: 'other', takes: /^/, most: 1_880 },
];

/** The programs around the service, without their tests. */
const programs = /^(bin|ops|lab|packages|site|tools)\//;
const tests = /^(lab|packages\/[^/]+)\/test\//;

const comment = /^\s*(\/\/|\/\*|\*|#(?!!))/;

const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter(file => file !== '')
  .flatMap(weigh);
const rows = rooms.map(({ name, ...bound }) => ({
  name,
  ...bound,
  ...sumOf(files.filter(({ room }) => room === name)),
}));
const service = rows.find(({ name }) => name === 'service')?.lines ?? 0;
const around = files.filter(({ file, room }) => room !== 'generated' && programs.test(file) && !tests.test(file));
const tooHeavy = rows.filter(({ lines, most }) => lines > most);

console.table(
  Object.fromEntries(
    rows.map(({ name, files, lines, bytes, comments, ...row }) => [
      name,
      {
        ...{ files, lines, 'at most': row.most, bytes },
        'comments, %': name === 'docs' ? '' : ((100 * comments) / lines).toFixed(1),
      },
    ]),
  ),
);
console.log(`Lines of programs around each line of the service: ${(sumOf(around).lines / service).toFixed(2)}`);
for (const { name, lines } of tooHeavy)
  console.error(`${name} has ${lines} lines: make it shorter, or say in tools/weights.ts why it may grow.`);
process.exitCode = tooHeavy.length > 0 ? 1 : 0;

/** Returns the weight of a file, or nothing of one that is no text or was deleted from the folder. */
function weigh(file: string): Weight[] {
  let content: Buffer;
  try {
    content = readFileSync(path.join(root, file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  if (content.includes(0)) return [];
  const lines = content.toString().split('\n');
  if (lines.at(-1) === '') lines.pop();
  const room = rooms.find(({ takes }) => takes.test(file))?.name ?? 'other';
  const comments = file.endsWith('.md') ? 0 : lines.filter(line => comment.test(line)).length;
  return [{ file, room, lines: lines.length, bytes: content.length, comments }];
}

function sumOf(some: readonly Weight[]) {
  const sum = (key: 'lines' | 'bytes' | 'comments') => some.reduce((total, weight) => total + weight[key], 0);
  return { files: some.length, lines: sum('lines'), bytes: sum('bytes'), comments: sum('comments') };
}

interface Weight {
  readonly file: string;
  readonly room: string;
  readonly lines: number;
  readonly bytes: number;
  readonly comments: number;
}
