/**
 * `npm run bench`: what the functions weigh and cost, written to docs/performance.md. Ratios are taken within one run
 * and hold between machines; milliseconds are this machine's. `npm run bench -- delivery` measures that part only.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { measureBundles } from './bundles.ts';
import { measureComparison } from './comparison.ts';
import { measureDelivery } from './delivery.ts';
import { describeBundles, describeComparison, describeDelivery, describeService } from './report.ts';
import { measureService } from './service.ts';

const coldRuns = 15;
const requests = 100;
const delivery = { rounds: 5, batches: 20, warmUp: 40 };
const comparison = { rounds: 10, requests: 200, warmUp: 800 };

/** A section of the page. */
interface Part {
  readonly title: string;
  measure(): Promise<string>;
}

const parts: Readonly<Record<string, Part>> = {
  bundles: {
    title: 'Bundles and cold start',
    measure: async () => describeBundles(measureBundles(coldRuns), coldRuns),
  },
  service: {
    title: 'The whole service, as `npm start` runs it',
    measure: async () => describeService(await measureService(requests)),
  },
  delivery: {
    title: 'Delivery through one consumer',
    measure: async () => describeDelivery(await measureDelivery(delivery), delivery),
  },
  comparison: {
    title: 'Beside oidc-provider',
    measure: async () => describeComparison(await measureComparison(comparison), comparison),
  },
};

const file = join(import.meta.dirname, '../../docs/performance.md');

const preamble = `# Performance

Written by \`npm run bench\` on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node.js ${process.version}.
Ratios compare two things measured in turn in the same run; they hold between machines. Milliseconds are this machine's.
`;

/** The sections that stand on the page, by heading; none, where the page was written on another machine. */
const sectionsOnPage = (): Map<string, string> => {
  const [first = '', ...sections] = readFileSync(file, 'utf8').split(/^## /m);
  if (first.trim() !== preamble.trim()) return new Map();
  return new Map(sections.map(section => [section.slice(0, section.indexOf('\n')), section]));
};

const main = async (names: readonly string[]): Promise<number> => {
  const all = Object.keys(parts);
  const unknown = names.find(name => !all.includes(name));
  if (unknown !== undefined) {
    console.error(`There is no part "${unknown}": the parts are ${all.join(', ')}; all of them, where none is named.`);
    return 1;
  }
  const sections = names.length === 0 ? new Map<string, string>() : sectionsOnPage();
  for (const [name, { title, measure }] of Object.entries(parts)) {
    if (names.length > 0 && !names.includes(name)) continue;
    console.error(`${title} …`);
    const section = `${title}\n${await measure()}\n`;
    console.log(`## ${section}`);
    sections.set(title, section);
  }
  const missing = Object.values(parts).find(({ title }) => !sections.has(title));
  if (missing) {
    console.error(`docs/performance.md was left alone: "${missing.title}" was not measured on this machine.`);
    return 0;
  }
  const ordered = Object.values(parts).map(({ title }) => `## ${sections.get(title)?.trim()}\n`);
  writeFileSync(file, [preamble, ...ordered].join('\n'));
  console.error('Written to docs/performance.md.');
  return 0;
};

process.exit(await main(process.argv.slice(2)));
