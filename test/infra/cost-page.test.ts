import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { accessLineBytes } from '../../lab/cost/access-line.ts';
import type { Measured } from '../../lab/cost/counts.ts';
import { costPage, idleMonths, sumAlone, sumOf, unitCosts } from '../../lab/cost/page.ts';
import { costsAlone, priceFile } from '../../lab/cost/prices.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const stored: Measured = JSON.parse(read('lab/cost/counts.json'));
const months = idleMonths(stored);

it('docs/cost.md follows from counts, prices and templates: otherwise run "npm run cost -- --prices"', () => {
  expect(read('docs/cost.md')).toBe(costPage(stored, months));
});

it('a request has the line of the access log that the templates have', () => {
  for (const { apiRequests, accessLogBytes } of Object.values(stored.actions))
    expect(accessLogBytes).toBe(apiRequests * accessLineBytes());
});

it('the dashboard counts with the same costs', () => {
  expect(JSON.parse(read('lib/unit-costs.json'))).toEqual(unitCosts(stored));
});

it('the README tells what a million delivered events cost', () => {
  const [, quiet, busy] = /quiet to busy \| (\S+) to (\S+)/.exec(costPage(stored, months)) ?? [];
  expect(read('README.md')).toContain(`cost $${busy} to $${quiet}`);
});

it.each([
  ['dev', 4],
  ['prod', 9.8],
] as const)('an idle month of %s costs $%d at most at list price, and the README tells what', (stage, most) => {
  const [list, alone] = [sumOf, sumAlone].map(sum => sum(months[stage], 'us-east-1').toFixed(2));
  expect(Number(list)).toBeLessThanOrEqual(most);
  expect(read('README.md')).toContain(`| \`${stage}\` | $${list} | $${alone} |`);
});

it('what AWS gives every account is taken off once', () => {
  const { alarm } = priceFile.regions['us-east-1'];
  const free = priceFile.free.quantities.alarm ?? 0;
  const [first, second] = costsAlone([{ alarm: free - 1 }, { alarm: 3 }], priceFile.regions['us-east-1']);
  expect(first).toBe(0);
  expect(second).toBeCloseTo(2 * alarm);
});
