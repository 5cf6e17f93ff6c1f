import { beforeAll, inject, it } from 'vitest';
import { prepared } from '../support/preparation.ts';
import { type HandOver, prepareHandOver } from './hand-over.ts';
import type { Releases } from './set-up.ts';
import { expectBothToServe } from './side-by-side.ts';

const releases = await prepared<Releases>(inject('releases'));
let handOver: HandOver;

// First alone: it keeps the machine busy for a while. What follows mostly waits, each for other things.
beforeAll(async () => {
  handOver = await prepareHandOver(releases);
  await handOver.leave();
  return handOver.clear;
}, 120_000);

it.concurrent('what the previous release promises holds while both serve', () => expectBothToServe(releases));

it.concurrent('a release goes on with what the one before it left, and after a roll-back that one goes on with what it left', () =>
  handOver.goOn());
