import { describe, expect, it } from 'vitest';
import { coreShare, workOf } from '../../lab/world/costs.ts';
import { attemptsPerProcess } from '../../lambdas/delivery/lanes/concurrency-limit.ts';
import { dueShards, historyKept } from '../../lambdas/delivery/store/delivery-item.ts';
import { maxQueueDelay } from '../../lambdas/delivery/transitions.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { lanePlaces } from '../../lib/lane-places.ts';
import { limitsOf } from '../../lib/throttling.ts';
import { readPage } from '../support/markdown-page.ts';

const page = readPage('docs/capacity.md');
const text = page.lines.join(' ').replace(/\s+/g, ' ');
/** Counted of one delivery of a batch of ten on 2026-11-22, as in `docs/cost.md`. */
const busy = { writeUnits: 2, logBytes: 396.8 };
const stage = stageConfiguration('dev', { accountConcurrency: 1_000 });

const rates = [10, 100, 1_000, 10_000];
const [attempt, entry] = [workOf.message + workOf.read + workOf.attempt + workOf.call, workOf.call + workOf.read];
const perPlace = Math.floor((coreShare * 1_000) / attempt);
const seconds = 30 * 86_400;
const whole = (value: number) => Math.round(value).toLocaleString('en');
/** One significant figure, as far as it is below one. */
const megabytes = (value: number) => String(Number(value.toPrecision(1)));
const cells = (heading: string, at: number) => page.tables.filter(table => table.heading === heading)[at]?.rows;

describe('the page of the capacity', () => {
  it('has the places, units and bytes that follow from the counts', () => {
    expect(cells('What limits, and the next knob', 0)).toEqual(
      rates.map(rate => [
        whole(rate),
        whole(Math.ceil(rate / perPlace)),
        whole(rate * busy.writeUnits),
        megabytes((rate * busy.logBytes) / 1e6),
      ]),
    );
  });

  it('has the attempts that a place makes', () => {
    const [newAccount, usual] = [lanePlaces(10), lanePlaces(1_000)];
    expect(text).toContain(`takes ${attempt.toFixed(2)} ms of a whole core`);
    expect(text).toContain(`has ${coreShare.toFixed(2)} of one, so that a place makes ${perPlace} attempts a second`);
    expect(text).toContain(`make ${newAccount.firstConcurrency * perPlace} first attempts a second`);
    expect(text).toContain(
      `${usual.firstConcurrency} places make ${whole(usual.firstConcurrency * perPlace)} attempts`,
    );
    expect(text).toContain(`starts with five batches, ${5 * perPlace} attempts a second`);
    const held = attemptsPerProcess.first;
    expect(text).toContain(`at most ${held} at once`);
    expect(text).toContain(
      `two places hold ${2 * held} attempts, so that answers after ${(2 * held) / 100} s fill them`,
    );
    expect(text).toContain(`${usual.firstConcurrency} places of 1,000 hold ${whole(usual.firstConcurrency * held)}`);
  });

  it('has what the sweeper manages', () => {
    const aSecond = Math.floor(((55 / 60) * coreShare * 1_000) / entry / 5) * 5;
    const visits = stage.retrySchedule.filter(wait => wait > maxQueueDelay).length;
    expect(text).toContain(`An entry costs it about ${entry.toFixed(2)} ms`);
    expect(text).toContain(`${aSecond} a second. A delivery that fails to its end comes by ${visits} times`);
    expect(text).toContain(`So ${Math.floor(aSecond / visits)} deliveries a second may fail for good`);
  });

  it('has what the lanes hold, and the logins that pass', () => {
    const { firstConcurrency, retryConcurrency, slowConcurrency } = lanePlaces(1_000);
    const { first, retry, slow } = attemptsPerProcess;
    const held = firstConcurrency * first + retryConcurrency * retry + slowConcurrency * slow;
    expect(text).toContain(`of 1,000 hold ${whole(held)} at most`);
    expect(text).toContain(`the route's throttle refuses from ${limitsOf(stage, 'token').rateLimit} a second on`);
  });

  it('has the growth of a month', () => {
    expect(historyKept).toBe(seconds * 1_000);
    expect(cells('Growth and retention', 0)).toEqual(
      rates.map(rate => [whole(rate), whole(rate * seconds), whole((rate * seconds) / 1_024 ** 2)]),
    );
  });

  it('has the partitions of the keys', () => {
    const rows = Object.fromEntries((cells('Hot partitions', 0) ?? []).map(([key = '', , most = '']) => [key, most]));
    const writes = (partitions: number, units = 1) => whole((partitions * 1_000) / units);
    expect(rows['index `byWebhook`: 1 for each webhook and list']).toBe(`${writes(1)} a second`);
    expect(rows['index `undelivered`: 1 for each webhook and state']).toBe(`${writes(1)} a second`);
    expect(rows[`index \`due\`: ${dueShards.length} for all`]).toBe(
      `${writes(dueShards.length, 2)} failed attempts a second`,
    );
  });
});
