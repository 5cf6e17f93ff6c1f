import { afterEach, describe, expect, it } from 'vitest';
import { ResolutionError } from '../../../../lambdas/platform/egress/resolver.ts';
import { frozenClock } from '../../../support/clock.ts';
import { inTurn, ok, otherAddress, publicAddress, request, reset, say, start, stopAll } from './posting.ts';
import type { Play } from './tls-receiver.ts';

afterEach(stopAll);

/** What a POST tells while it is under way. */
const listen = () => {
  const heard: string[] = [];
  return {
    heard,
    onResolved: () => void heard.push('resolved'),
    onConnecting: () => void heard.push('connecting'),
    onAnswered: () => void heard.push('answered'),
  };
};

describe('the timing of a POST', () => {
  it('tells each step once, whichever connection it used', async () => {
    const { post } = await start(inTurn(say(ok), reset, say(ok)), {
      resolve: async () => [otherAddress, publicAddress],
      fates: new Map([[otherAddress, 'ECONNREFUSED']]),
    });
    for (let time = 0; time < 2; time++) {
      const { heard, ...listeners } = listen();
      expect(await post({ ...request, ...listeners })).toMatchObject({ outcome: 'response' });
      expect(heard).toEqual(['resolved', 'connecting', 'answered']);
    }
  });

  it.each([
    ['a host that is refused', async () => ['10.0.0.1'], 'blocked'],
    ['a name that does not resolve', () => Promise.reject(new ResolutionError('not_found', 'ENOTFOUND')), 'dns'],
  ])('has no connecting for %s', async (_case, resolve, expected) => {
    const { post } = await start(say(ok), { resolve });
    const { heard, ...listeners } = listen();
    const outcome = await post({ ...request, ...listeners });
    expect(outcome.outcome).toBe(expected);
    expect(outcome).not.toHaveProperty('sinceConnectingMs');
    expect(heard).toEqual(['resolved']);
  });

  it('measures resolving, the time since connecting, and up to the last header, without the body', async () => {
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
    const { post } = await start(play, { resolve, now: clock.now });
    let resolvedIn = 0;
    const onResolved = (resolutionMs: number) => {
      resolvedIn = resolutionMs;
    };
    expect(await post({ ...request, elapsed: clock.now, onResolved })).toMatchObject({
      outcome: 'response',
      bodyStart: 'ok',
      durationMs: 65,
      resolutionMs: 40,
      sinceConnectingMs: 25,
    });
    expect(resolvedIn).toBe(40);
  });

  it('measures a resolution that fails', async () => {
    const { post } = await start(say(ok), { resolve: () => new Promise(() => {}) });
    const outcome = await post({ ...request, deadlineMs: 100 });
    expect(outcome.outcome).toBe('timeout');
    expect(outcome.resolutionMs).toBeGreaterThanOrEqual(95);
    expect(outcome.resolutionMs).toBe(outcome.durationMs);
  });
});

describe('a POST that is given up', () => {
  const silent: Play = () => {};

  it.each<[string, Parameters<typeof start>[1]]>([
    ['resolving', { resolve: () => new Promise(() => {}) }],
    ['connecting', { fates: new Map([[publicAddress, 'silent']]) }],
    ['waiting for headers', {}],
  ])('ends at once while %s', async (_case, situation) => {
    const { post } = await start(silent, situation);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    const outcome = await post({ ...request, signal: abort.signal });
    expect(outcome.outcome).toBe('given_up');
    expect(outcome.durationMs).toBeGreaterThanOrEqual(90);
    expect(outcome.durationMs).toBeLessThan(1_000);
  });

  it('closes its connection at once', async () => {
    const { receiver, post } = await start(inTurn(silent, say(ok)));
    const closed = Promise.withResolvers<void>();
    const abort = new AbortController();
    const given = post({ ...request, signal: abort.signal });
    await expect.poll(() => receiver.requests.length).toBe(1);
    receiver.onClose(closed.resolve);
    abort.abort();
    await closed.promise;
    expect((await given).outcome).toBe('given_up');
    expect(await post(request)).toMatchObject({ outcome: 'response' });
    expect(receiver.connections()).toBe(2);
  });

  it('does not begin when it is given up before', async () => {
    const { meant, post } = await start(say(ok));
    const { heard, ...listeners } = listen();
    expect(await post({ ...request, ...listeners, signal: AbortSignal.abort() })).toMatchObject({
      outcome: 'given_up',
    });
    expect(meant).toEqual([]);
    expect(heard).toEqual([]);
  });

  it('is answered once its last header has come: only the reading of the body ends', async () => {
    const { post } = await start(say('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome'));
    const abort = new AbortController();
    const startedAt = performance.now();
    const outcome = await post({
      ...request,
      signal: abort.signal,
      onAnswered: () => void setTimeout(() => abort.abort(), 100),
    });
    expect(outcome).toMatchObject({ outcome: 'response', status: 200, bodyStart: 'some' });
    expect(performance.now() - startedAt).toBeLessThan(900);
  });

  it('leaves no listener at its signal', async () => {
    const { post } = await start(say(ok));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    await post({ ...request, signal });
    expect(listeners).toBe(0);
  });
});
