import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../../lambdas/delivery/delivery.ts';
import { makeHeedGone } from '../../../../lambdas/delivery/worker/heed-gone.ts';
import { aRecord, aWebhook, failure, fakeTelemetry, ownFault, success } from '../builders.ts';

const gone: AttemptOutcome = { outcome: 'gone', record: aRecord({ status: 410 }) };

const heeding = (suspended: 'suspended' | 'suspended_already' | 'replaced' | Error) => {
  const telemetry = fakeTelemetry();
  const suspendGone = async () => {
    if (suspended instanceof Error) throw suspended;
    return suspended;
  };
  const heedGone = makeHeedGone({ ...telemetry, health: { suspendGone } });
  return { heed: (outcome: AttemptOutcome) => heedGone(aWebhook(), outcome), ...telemetry };
};

describe('a 410', () => {
  it('suspends the webhook, counted once', async () => {
    const { heed, counts, lines } = heeding('suspended');
    expect(await heed(gone)).toEqual(gone);
    expect(counts).toEqual({ WebhookSuspended: 1 });
    expect(lines.join()).toContain('webhook.suspended');
  });

  it('of a webhook that is suspended already holds its delivery all the same', async () => {
    const { heed, counts } = heeding('suspended_already');
    expect(await heed(gone)).toEqual(gone);
    expect(counts).toEqual({});
  });

  it('of an earlier URL or registration is a failure like any other', async () => {
    const { heed, counts } = heeding('replaced');
    expect(await heed(gone)).toMatchObject({ outcome: 'failed', retryAfterMs: undefined, record: gone.record });
    expect(counts).toEqual({});
  });

  it('that cannot be heeded brings its message back: nobody would ever ask the receiver again', async () => {
    await expect(heeding(new Error('the store is down')).heed(gone)).rejects.toThrow('the store is down');
  });
});

describe('any other outcome', () => {
  it.each([success, failure(), ownFault()])('stays as it is', async outcome => {
    expect(await heeding(new Error('not to be asked')).heed(outcome)).toBe(outcome);
  });
});
