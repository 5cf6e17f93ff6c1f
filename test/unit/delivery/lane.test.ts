import { describe, expect, it } from 'vitest';
import { laneBeyond, nextLane } from '../../../lambdas/delivery/lane.ts';
import { aWebhook, noon } from './builders.ts';

const well = aWebhook();
const failing = aWebhook({ failingSince: noon - 59_999 });
const failingForLong = aWebhook({ failingSince: noon - 60_000 });
const slow = aWebhook({ slowSince: noon });
const slowAndFailing = aWebhook({ slowSince: noon, failingSince: noon - 60_000 });

describe('the lane of an attempt', () => {
  it.each([
    ['first', 'well', well, undefined],
    ['first', 'failing for less than a minute', failing, undefined],
    ['first', 'failing for a minute', failingForLong, 'retry'],
    ['first', 'slow', slow, 'slow'],
    ['first', 'both', slowAndFailing, 'slow'],
    ['retry', 'well', well, undefined],
    ['retry', 'failing for a minute', failingForLong, undefined],
    ['retry', 'slow', slow, 'slow'],
    ['slow', 'slow', slow, undefined],
    ['slow', 'well again', well, undefined],
    ['slow', 'failing for a minute', failingForLong, undefined],
  ] as const)('about to be made in %s, of a webhook that is %s', (lane, _, webhook, beyond) => {
    expect(laneBeyond(lane, webhook, noon)).toBe(beyond);
  });

  it('that comes next is no first one', () => {
    expect([well, failingForLong, slow].map(nextLane)).toEqual(['retry', 'retry', 'slow']);
  });
});
