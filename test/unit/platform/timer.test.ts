import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { afterEvents, systemTime, withDeadline } from '../../../lambdas/platform/timer.ts';
import { listen } from '../../../tools/support/listen.ts';

describe('a timer', () => {
  it('that is late lets what has come meanwhile be handled first', async () => {
    const server = createServer(peer => peer.write('answer'));
    const port = await listen(server);
    const socket = connect(port, '127.0.0.1');
    const [peer] = await once(server, 'connection');
    await once(socket, 'data');

    const order: string[] = [];
    socket.on('data', () => order.push('answer'));
    const fired = new Promise<void>(resolve => {
      afterEvents(20, () => {
        order.push('timer');
        resolve();
      });
    });
    setImmediate(() => {
      peer.write('another');
      const until = performance.now() + 100;
      while (performance.now() < until);
    });
    await fired;
    socket.destroy();
    server.close();
    expect(order).toEqual(['answer', 'timer']);
  });

  describe('by the clock', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    const settle = async (milliseconds: number) => {
      await vi.advanceTimersByTimeAsync(milliseconds);
      await vi.advanceTimersByTimeAsync(1); // fake immediates take a millisecond
    };

    it('calls back in time, unless it is told not to', async () => {
      const act = vi.fn();
      const cancel = afterEvents(2_000, act);
      await settle(1_999);
      expect(act).not.toHaveBeenCalled();
      await settle(1);
      expect(act).toHaveBeenCalledOnce();
      cancel();
      afterEvents(2_000, act)();
      await settle(5_000);
      expect(act).toHaveBeenCalledOnce();
    });

    it('can be told not to in its last turn', async () => {
      const act = vi.fn();
      const cancel = afterEvents(2_000, act);
      setTimeout(cancel, 2_000);
      await settle(5_000);
      expect(act).not.toHaveBeenCalled();
    });
  });
});

describe('work with a deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const { after } = systemTime;

  it('is told of it by its signal, and leaves no timer where it is done in time', async () => {
    expect(await withDeadline(after, 1_000, async () => 'done')).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
    const ended = withDeadline(after, 1_000, async signal => {
      await new Promise(resolve => signal.addEventListener('abort', resolve));
      throw signal.reason;
    });
    const late = expect(ended).rejects.toMatchObject({ name: 'TimeoutError' });
    await vi.advanceTimersByTimeAsync(1_000);
    await late;
  });

  // The other deletions of a login's surplus went on after one of them had failed.
  it('ends what is left of it where a part of it fails', async () => {
    let isEnded = false;
    const work = withDeadline(after, 1_000, signal => {
      signal.addEventListener('abort', () => {
        isEnded = true;
      });
      return Promise.all([Promise.reject(new Error('one')), new Promise(() => {})]);
    });
    await expect(work).rejects.toThrow('one');
    expect(isEnded).toBe(true);
  });
});
