import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { pickAddresses } from '../../../../lambdas/platform/egress/connections.ts';
import { listen } from '../../../../tools/support/listen.ts';
import { runLoopUntil, useVirtualTime } from '../../../support/virtual-time.ts';
import { inTurn, ok, outcomeOf, request, reset, say, start } from './posting.ts';
import type { TlsReceiver } from './tls-receiver.ts';

const addresses = [1, 2, 3, 4, 5].map(last => `93.184.217.${last}`);
const [first = '', second = '', third = ''] = addresses;
const resolve = async () => addresses;
const hosts = (targets: readonly { host: string | undefined }[]) => targets.map(({ host }) => host);

describe('the addresses of a host', () => {
  it.each([...['ECONNREFUSED', 'ECONNRESET'], ...['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EHOSTDOWN']] as const)(
    'are tried one after another if connections fail with %s, and the last failure is returned',
    async code => {
      const fates = new Map([[first, code]]);
      const { targets, post } = await start(say(ok), { resolve, fates });
      expect(await post(request)).toMatchObject({ outcome: 'response', status: 200 });
      expect(hosts(targets)).toEqual([first, second]);
      for (const address of addresses) fates.set(address, code);
      expect(await post({ ...request, accountId: 'other' })).toMatchObject({ outcome: 'connection', errorCode: code });
    },
  );

  it('are each tried for the connect timeout, up to three addresses', async () => {
    useVirtualTime();
    const fates = new Map(addresses.map(address => [address, 'silent' as const]));
    const { targets, post } = await start(say(ok), { resolve, fates });
    const outcome = post({ ...request, connectTimeoutMs: 50 });
    for (const count of [1, 2, 3]) {
      await runLoopUntil(() => targets.length === count && vi.getTimerCount() === 2);
      vi.advanceTimersByTime(50);
    }
    expect(await outcome).toMatchObject({ outcome: 'timeout', cause: 'connecting', durationMs: 150 });
    expect(hosts(targets)).toEqual([first, second, third]);
  });

  it('are tried only within the deadline', async () => {
    useVirtualTime();
    const fates = new Map(addresses.map(address => [address, 'silent' as const]));
    const { targets, post } = await start(say(ok), { resolve, fates });
    const outcome = post({ ...request, connectTimeoutMs: 500, deadlineMs: 900 });
    for (const [count, milliseconds] of [
      [1, 500],
      [2, 400],
    ] as const) {
      await runLoopUntil(() => targets.length === count && vi.getTimerCount() === 2);
      vi.advanceTimersByTime(milliseconds);
    }
    expect(await outcome).toMatchObject({ outcome: 'timeout', durationMs: 900 });
    expect(targets).toHaveLength(2);
  });

  it('are not tried after one has accepted a connection, because the receiver could receive the event twice', async () => {
    const { targets, receiver, post } = await start(inTurn(reset, say(ok)), { resolve });
    expect(await post(request)).toMatchObject({ outcome: 'connection', errorCode: 'ECONNRESET' });
    expect(targets).toHaveLength(1);
    expect(receiver.requests).toHaveLength(1);
  });

  it('are not tried after a TLS failure', async () => {
    const { targets, post } = await start(say(ok), { resolve, trust: false });
    expect(await post(request)).toMatchObject({ outcome: 'tls' });
    expect(targets).toHaveLength(1);
  });

  it('are tried in a random order in each attempt', async () => {
    const draws = [0.99, 0.5, 0];
    const fates = new Map(addresses.map(address => [address, 'ECONNREFUSED' as const]));
    const { targets, post } = await start(say(ok), { resolve, fates, random: () => draws.shift() ?? 0 });
    await post(request);
    await post(request);
    expect(hosts(targets)).toEqual([addresses[4], addresses[2], addresses[0], first, second, third]);
  });

  it('are picked without duplicates, and all orders are equally frequent', () => {
    const orders = [0, 1, 2, 3].flatMap(i => [0, 1, 2].flatMap(j => [0, 1].map(k => [i / 4, j / 3, k / 2] as const)));
    const drawn = orders.map(draws => {
      const remaining = [...draws];
      return pickAddresses(['a', 'b', 'c', 'd'], () => remaining.shift() ?? 0);
    });
    expect(drawn.every(order => new Set(order).size === 3)).toBe(true);
    expect(new Set(drawn.map(String)).size).toBe(24);
  });
});

describe('the connect timeout', () => {
  /** Starts a port that accepts connections at once and forwards data with a delay. */
  const lateBehind = async (receiver: TlsReceiver): Promise<number> => {
    const server = createServer(socket => {
      socket.on('error', () => {});
      setTimeout(() => {
        const inner = connect(receiver.port, '127.0.0.1').on('error', () => socket.destroy());
        socket.pipe(inner).pipe(socket);
      }, 300);
    });
    onTestFinished(() => void server.close());
    return listen(server);
  };

  it('does not include the TLS handshake, which only the deadline limits', async () => {
    const outcome = await outcomeOf(say(ok), { connectTimeoutMs: 100 }, { port: lateBehind });
    expect(outcome).toMatchObject({ outcome: 'response', status: 200 });
  });

  it('does not expire because the process itself was busy', async () => {
    const busy = () => {
      const end = performance.now() + 300;
      while (performance.now() < end);
    };
    const resolveThenBusy = async () => {
      setImmediate(busy);
      return resolve();
    };
    const { targets, post } = await start(say(ok), { resolve: resolveThenBusy });
    expect(await post({ ...request, connectTimeoutMs: 50 })).toMatchObject({ outcome: 'response', status: 200 });
    expect(targets).toHaveLength(1);
  });
});
