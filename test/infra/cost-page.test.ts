import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { accessLineBytes } from '../../lab/cost/access-line.ts';
import type { Measured } from '../../lab/cost/measure.ts';
import { costPage, idleMonths, sumOf, unitCosts } from '../../lab/cost/page.ts';

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

it('the README tells what a month costs in which nothing happens', () => {
  for (const stage of ['dev', 'prod'] as const)
    expect(read('README.md')).toContain(`$${sumOf(months[stage], 'us-east-1').toFixed(2)}`);
});
