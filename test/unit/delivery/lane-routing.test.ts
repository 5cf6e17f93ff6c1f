import { describe, expect, it } from 'vitest';
import { laneFor } from '../../../lambdas/delivery/lane-routing.ts';
import { aWebhook, noon } from './builders.ts';

const quick = { isSlow: false };
const slow = { isSlow: true };
const well = aWebhook();
const failing = aWebhook({ failingSince: noon - 59_999 });
const failingForLong = aWebhook({ failingSince: noon - 60_000 });

describe('the lane of an attempt', () => {
  it.each([
    ['first', 'well', well, quick, undefined],
    ['first', 'failing for less than a minute', failing, quick, undefined],
    ['first', 'failing for a minute', failingForLong, quick, 'retry'],
    ['first', 'slow', well, slow, 'slow'],
    ['first', 'both', failingForLong, slow, 'slow'],
    ['retry', 'well', well, quick, undefined],
    ['retry', 'failing for a minute', failingForLong, quick, undefined],
    ['retry', 'slow', well, slow, 'slow'],
    ['slow', 'slow', well, slow, undefined],
    ['slow', 'quick again', well, quick, undefined],
    ['slow', 'failing for a minute', failingForLong, quick, undefined],
  ] as const)('about to be made in %s, of a webhook that is %s', (lane, _, webhook, speed, other) => {
    expect(laneFor(lane, { ...webhook, ...speed }, noon)).toBe(other);
  });
});
