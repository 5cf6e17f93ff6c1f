import { describe, expect, it } from 'vitest';
import { coreShare, cpuCosts } from '../../lab/world/costs.ts';
import { attemptsPerProcess } from '../../lambdas/delivery/lanes/concurrency-limit.ts';
import { dueShards, historyRetention } from '../../lambdas/delivery/store/delivery-item.ts';
import { maxQueueDelay } from '../../lambdas/delivery/transitions.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { laneConcurrency } from '../../lib/lane-concurrency.ts';
import { limitsOf } from '../../lib/throttling.ts';
import { readPage } from '../support/markdown-page.ts';

const page = readPage('docs/capacity.md');
const text = page.lines.join(' ').replace(/\s+/g, ' ');
/** The counts for one delivery in a batch of 10 on 2026-11-22, as in `docs/cost.md`. */
const deliveryCounts = { writeUnits: 2, logBytes: 396.8 };
const stage = stageConfiguration('dev', { accountConcurrency: 1_000 });

const rates = [10, 100, 1_000, 10_000];
const { message, read, call } = cpuCosts;
const [attempt, entry] = [message + read + cpuCosts.attempt + call, call + read];
const perProcess = Math.floor((coreShare * 1_000) / attempt);
const seconds = 30 * 86_400;
const whole = (value: number) => Math.round(value).toLocaleString('en');
/** Formats a number with one significant figure. */
const megabytes = (value: number) => String(Number(value.toPrecision(1)));
const cells = (heading: string, at: number) => page.tables.filter(table => table.heading === heading)[at]?.rows;

describe('the page about capacity', () => {
  it('states the concurrency, write units and log bytes that follow from the counts', () => {
    expect(cells('Limits and how to raise them', 0)).toEqual(
      rates.map(rate => [
        whole(rate),
        whole(Math.ceil(rate / perProcess)),
        whole(rate * deliveryCounts.writeUnits),
        megabytes((rate * deliveryCounts.logBytes) / 1e6),
      ]),
    );
  });

  it('states the growth in a month', () => {
    expect(historyRetention).toBe(seconds * 1_000);
    expect(cells('Growth and retention', 0)).toEqual(
      rates.map(rate => [whole(rate), whole(rate * seconds), whole((rate * seconds) / 1_024 ** 2)]),
    );
  });

  it('states the maximum write rate of the `due` index', () => {
    const row = cells('Hot partitions', 0)?.find(([key]) => key === `\`due\` index: ${dueShards.length} for all`);
    expect(row?.[2]).toBe(`${whole((dueShards.length * 1_000) / 2)} failed attempts a second`);
  });

  const [newAccount, usual] = [laneConcurrency(10), laneConcurrency(1_000)];
  const { first, retry, slow } = attemptsPerProcess;
  const maxInFlight = usual.firstConcurrency * first + usual.retryConcurrency * retry + usual.slowConcurrency * slow;
  const sweptPerSecond = Math.floor(((55 / 60) * coreShare * 1_000) / entry / 5) * 5;
  const visits = stage.retrySchedule.filter(wait => wait > maxQueueDelay).length;

  it.each([
    `takes ${attempt.toFixed(2)} ms of CPU time`,
    `has ${coreShare.toFixed(2)} of a core, so a process makes ${perProcess} attempts a second`,
    `make ${newAccount.firstConcurrency * perProcess} first attempts a second`,
    `${usual.firstConcurrency} processes make ${whole(usual.firstConcurrency * perProcess)} attempts`,
    `starts with five batches, ${5 * perProcess} attempts a second`,
    `at most ${first} attempts in flight`,
    `two processes hold ${2 * first} attempts, so responses after ${(2 * first) / 100} s fill them`,
    `with 1,000, ${usual.firstConcurrency} processes hold ${whole(usual.firstConcurrency * first)}`,
    `of 1,000 hold ${whole(maxInFlight)} at most`,
    `An entry costs it about ${entry.toFixed(2)} ms`,
    `${sweptPerSecond} a second. A delivery that exhausts its attempts needs ${visits} of them`,
    `So ${Math.floor(sweptPerSecond / visits)} deliveries a second may fail permanently`,
    `the route's throttle rejects more than ${limitsOf(stage, 'token').rateLimit} a second`,
  ])('states: %s', phrase => {
    expect(text).toContain(phrase);
  });
});
