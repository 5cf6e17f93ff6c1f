import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { ResolutionError } from '../../../../lambdas/platform/egress/resolver.ts';
import { frozenClock } from '../../../support/clock.ts';
import { runLoopUntil, useVirtualTime } from '../../../support/virtual-time.ts';
import { inTurn, ok, otherAddress, outcomeOf, publicAddress, request, say, start } from './posting.ts';
import type { Play } from './tls-receiver.ts';

type Situation = Parameters<typeof start>[1];
const both = async () => [otherAddress, publicAddress];

describe('the timing of a POST', () => {
  it.each<[string, Situation, string, number]>([
    ['one response', {}, 'response', 1],
    ['the second address', { resolve: both, fates: new Map([[otherAddress, 'ECONNREFUSED']]) }, 'response', 1],
    ['a blocked host', { resolve: async () => ['10.0.0.1'] }, 'blocked', 0],
    ['an unknown name', { resolve: () => Promise.reject(new ResolutionError('not_found', '')) }, 'dns', 0],
  ])('reports a response once, and only if there is one: %s', async (_case, situation, outcome, times) => {
    const onResponse = vi.fn();
    expect(await outcomeOf(say(ok), { onResponse }, situation)).toMatchObject({ outcome });
    expect(onResponse).toHaveBeenCalledTimes(times);
  });

  it('measures the time from name resolution to the last header, without the body', async () => {
    const clock = frozenClock();
    const resolve = async () => {
      clock.advance(40);
      return [publicAddress];
    };
    const play: Play = socket => {
      clock.advance(25);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
      setTimeout(() => {
        clock.advance(500);
        socket.write('ok');
      }, 100);
    };
    const outcome = await outcomeOf(play, {}, { resolve, now: clock.now });
    expect(outcome).toMatchObject({ outcome: 'response', bodyStart: 'ok', durationMs: 65 });
  });
});

describe('a POST that is given up', () => {
  const silent: Play = () => {};

  it.each<[string, Situation, (started: Awaited<ReturnType<typeof start>>) => boolean]>([
    ['resolving', { resolve: () => new Promise(() => {}) }, () => true],
    ['connecting', { fates: new Map([[publicAddress, 'silent']]) }, ({ targets }) => targets.length === 1],
    ['waiting for headers', {}, ({ receiver }) => receiver.requests.length === 1],
  ])('ends at once while %s', async (_case, situation, hasReached) => {
    useVirtualTime();
    const started = await start(silent, situation);
    const abort = new AbortController();
    const outcome = started.post({ ...request, signal: abort.signal });
    await runLoopUntil(() => hasReached(started));
    vi.advanceTimersByTime(100);
    abort.abort();
    expect(await outcome).toMatchObject({ outcome: 'given_up', durationMs: 100 });
  });

  it('closes its connection at once', async () => {
    const { receiver, post } = await start(inTurn(silent, say(ok)));
    const closed = Promise.withResolvers<void>();
    const abort = new AbortController();
    const outcome = post({ ...request, signal: abort.signal });
    await expect.poll(() => receiver.requests.length).toBe(1);
    receiver.onClose(closed.resolve);
    abort.abort();
    await closed.promise;
    expect((await outcome).outcome).toBe('given_up');
    expect(await post(request)).toMatchObject({ outcome: 'response' });
    expect(receiver.connections()).toBe(2);
  });

  it('does not start if its signal has already aborted', async () => {
    const { targets, post } = await start(say(ok));
    expect(await post({ ...request, signal: AbortSignal.abort() })).toMatchObject({ outcome: 'given_up' });
    expect(targets).toEqual([]);
  });

  it('has a response if its last header has arrived, and only stops reading the body', async () => {
    useVirtualTime(); // reading would take 1 s, which never passes
    const abort = new AbortController();
    const responded = Promise.withResolvers<void>();
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome';
    const outcome = outcomeOf(say(text), { signal: abort.signal, onResponse: responded.resolve });
    await responded.promise;
    let turns = 0;
    await runLoopUntil(() => ++turns === 5);
    abort.abort();
    expect(await outcome).toMatchObject({ outcome: 'response', status: 200, bodyStart: 'some' });
  });

  it('leaves no listener on its signal', async () => {
    const { signal } = new AbortController();
    await outcomeOf(say(ok), { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
