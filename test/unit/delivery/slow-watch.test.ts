import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeWatchForSlowness, systemTimer } from '../../../lambdas/delivery/slow-watch.ts';
import { aWebhook, fakeTelemetry, noon } from './builders.ts';

const watching = ({ fails = false, webhook = aWebhook() } = {}) => {
  const did: string[] = [];
  const telemetry = fakeTelemetry();
  let due: { readonly in: number; act(): void } | undefined;
  let store: () => void = () => undefined;
  const watch = makeWatchForSlowness({
    ...telemetry,
    health: {
      slowedDown: async () => {
        did.push('noting');
        await new Promise<void>(resolve => {
          store = resolve;
        });
        if (fails) throw new Error('the store is down');
        did.push('noted');
        return true;
      },
    },
    after: (milliseconds, act) => {
      due = { in: milliseconds, act };
      return () => {
        due = undefined;
      };
    },
  });
  return { end: watch(webhook), did, due: () => due, store: () => store(), ...telemetry };
};

describe('the watch over an attempt', () => {
  it('notes a webhook as slow while the attempt is under way, after two seconds', async () => {
    const { due, did } = watching();
    expect(due()?.in).toBe(2_000);
    due()?.act();
    expect(did).toEqual(['noting']);
  });

  it('notes nothing once the attempt is over', async () => {
    const { end, due, did } = watching();
    await end();
    expect(due()).toBeUndefined();
    expect(did).toEqual([]);
  });

  it('ends when its note is stored: Lambda freezes what is still under way', async () => {
    const { end, due, did, store } = watching();
    due()?.act();
    const ended = end().then(() => did.push('ended'));
    store();
    await ended;
    expect(did).toEqual(['noting', 'noted', 'ended']);
  });

  it('never throws: what cannot be noted now, the next attempt notes', async () => {
    const { end, due, store, lines } = watching({ fails: true });
    due()?.act();
    store();
    await end();
    expect(lines.join()).toContain('webhook health not stored');
  });

  it('is not needed for a webhook that is known to be slow', async () => {
    const { end, due } = watching({ webhook: aWebhook({ slowSince: noon }) });
    expect(due()).toBeUndefined();
    await end();
  });
});

describe('the system’s timer', () => {
  beforeAll(() => void vi.useFakeTimers());
  afterAll(() => void vi.useRealTimers());
  it('calls back in time, unless it is told not to', () => {
    const act = vi.fn();
    const cancel = systemTimer(2_000, act);
    vi.advanceTimersByTime(1_999);
    expect(act).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(act).toHaveBeenCalledOnce();
    cancel();
    systemTimer(2_000, act)();
    vi.advanceTimersByTime(5_000);
    expect(act).toHaveBeenCalledOnce();
  });
});
