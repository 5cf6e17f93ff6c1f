import { describe, expect, it, vi } from 'vitest';
import { makeConnections } from '../../../../lambdas/platform/egress/connections.ts';
import { makePinnedPost } from '../../../../lambdas/platform/egress/pinned-request.ts';
import { ResolutionError } from '../../../../lambdas/platform/egress/resolver.ts';
import { runLoopUntil, useVirtualTime } from '../../../support/virtual-time.ts';
import { inTurn, ok, otherAddress, outcomeOf, postWith, publicAddress, request, reset, say, start } from './posting.ts';
import type { Play } from './tls-receiver.ts';

describe('the request', () => {
  it('is a POST to the checked address, with the name in SNI and Host', async () => {
    const { receiver, targets, post } = await start(say(ok));
    const body = '{"a":"ação"}';
    expect(await post({ ...request, body })).toMatchObject({ outcome: 'response', status: 200, bodyStart: 'ok' });
    expect(targets).toEqual([{ host: publicAddress, port: 443 }]);
    const [received] = receiver.requests;
    expect(received?.serverName).toBe('receiver.example.com');
    const [head = '', sent = ''] = received?.text.split('\r\n\r\n') ?? [];
    expect(Buffer.from(sent, 'latin1').toString()).toBe(body);
    const [line, ...headers] = head.split('\r\n');
    expect(line).toBe('POST /hook?a=b HTTP/1.1');
    expect(headers.map(header => header.toLowerCase()).sort()).toEqual([
      'accept-encoding: identity',
      'accept: */*',
      'authorization: bearer s3cret',
      'connection: keep-alive',
      'content-length: 14', // bytes, not characters
      'content-type: application/json',
      'host: receiver.example.com',
    ]);
  });

  it.each([
    ['https://receiver.example.com:8443/', 'receiver.example.com:8443', 'receiver.example.com', 8443],
    ['https://Receiver.Example.Com./', 'receiver.example.com', 'receiver.example.com', 443],
    [`https://${publicAddress}:8443/`, `${publicAddress}:8443`, false, 8443],
  ])('is sent to %s with host %s', async (url, host, serverName, port) => {
    const { receiver, targets, post } = await start(say(ok));
    expect(await post({ ...request, url })).toMatchObject({ outcome: 'response', status: 200 });
    expect(targets).toEqual([{ host: publicAddress, port }]);
    expect(receiver.requests[0]?.serverName).toBe(serverName);
    expect(receiver.requests[0]?.text).toContain(`\r\nhost: ${host}\r\n`);
  });
});

// `failure-causes.test.ts` tests the failures that an attempt records.
describe('failures', () => {
  const trickle: Play = socket => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('X: 1\r\n'), 5);
    socket.on('close', () => clearInterval(timer));
  };

  it.each(['EMFILE', 'ENOMEM', 'EADDRNOTAVAIL'] as const)(
    '%s from a socket is an internal error, and no other address is tried',
    async code => {
      const resolve = async () => [publicAddress, otherAddress];
      const fates = new Map([publicAddress, otherAddress].map(address => [address, code]));
      const { targets, post } = await start(say(ok), { resolve, fates });
      expect(await post(request)).toMatchObject({ outcome: 'internal_error', errorCode: code });
      expect(targets).toHaveLength(1);
    },
  );

  it('an error that is thrown when a socket is created is an internal error', async () => {
    const connect = () => {
      throw Object.assign(new Error('no socket'), { code: 'EMFILE' });
    };
    const post = postWith({ now: () => 0, post: makePinnedPost(makeConnections({ connect })) });
    expect(await post(request)).toMatchObject({ outcome: 'internal_error', errorCode: 'EMFILE' });
  });

  it.each<[string, Play]>([
    ['only sends informational responses', say('HTTP/1.1 102 Processing\r\n\r\n')],
    ['trickles its headers', trickle],
  ])('a receiver that %s exceeds the deadline', async (_case, play) => {
    useVirtualTime();
    const { receiver, post } = await start(play);
    const outcome = post({ ...request, deadlineMs: 200 });
    await runLoopUntil(() => receiver.requests.length === 1);
    vi.advanceTimersByTime(200);
    expect(await outcome).toMatchObject({ outcome: 'timeout', durationMs: 200 });
  });

  it('a response that arrived in time is accepted, even if the process was busy until after the deadline', async () => {
    const { post } = await start(socket => {
      socket.write(ok);
      const until = performance.now() + 400;
      while (performance.now() < until);
    });
    expect(await post({ ...request, deadlineMs: 300 })).toMatchObject({ outcome: 'response', status: 200 });
  });

  // Node.js counts the reason phrase, names and values, and accepts less than 16 KiB of them. The test sends the maximum.
  it('a receiver may send 16 KiB of headers in every response, in pieces and after informational responses', async () => {
    const headers = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(16_360)}\r\nContent-Length: 2\r\n\r\n`;
    const informed = `${'HTTP/1.1 103 Early Hints\r\nX-Long: '.padEnd(7_000, 'x')}\r\n\r\n`;
    const { receiver, post } = await start(async socket => {
      for (const text of [informed, informed, headers]) {
        for (let at = 0; at < text.length; at += 1_024) {
          socket.write(text.slice(at, at + 1_024));
          await new Promise(setImmediate);
        }
      }
      socket.write('ok');
    });
    for (let time = 0; time < 2; time++) {
      expect(await post(request)).toMatchObject({ outcome: 'response', status: 200, bodyStart: 'ok' });
    }
    expect(receiver.connections()).toBe(1);
  });

  it.each([
    [new ResolutionError('internal_error', 'ENOMEM'), 'ENOMEM'],
    [new TypeError('a bug'), 'TypeError'],
  ])('%s from the resolver is an internal error', async (error, errorCode) => {
    const resolve = () => Promise.reject(error);
    expect(await outcomeOf(say(ok), {}, { resolve })).toMatchObject({ outcome: 'internal_error', errorCode });
  });

  it('an invalid request header is an internal error, and the outcome does not contain it', async () => {
    const headers = { authorization: 'Bearer s3cret\n' };
    expect(await outcomeOf(say(ok), { headers })).toMatchObject({
      outcome: 'internal_error',
      errorCode: 'ERR_INVALID_CHAR',
    });
  });
});

describe('the SSRF guard', () => {
  it.each([
    ['http://receiver.example.com/', [publicAddress]],
    ['https://base.emissor.example.net/', [publicAddress]],
    ['https://169.254.100.1:9001/2018-06-01/runtime/invocation/next', []],
    ['https://127.0.0.1/', []],
    ['https://receiver.example.com/', [publicAddress, '10.0.0.1']],
    ['https://169.254.169.254.sslip.io/', ['169.254.169.254']],
  ])('blocks %s with addresses %j without connecting', async (url, addresses) => {
    const { targets, post } = await start(say(ok), { resolve: async () => addresses });
    expect(await post({ ...request, url })).toMatchObject({ outcome: 'blocked' });
    expect(targets).toEqual([]);
  });

  it('resolves once per attempt, so DNS rebinding cannot replace a checked address', async () => {
    const resolvedAddresses = [[publicAddress], ['127.0.0.1'], [otherAddress], ['169.254.169.254']];
    let resolutions = 0;
    const { targets, post } = await start(say(ok), { resolve: async () => resolvedAddresses[resolutions++] ?? [] });
    expect(await post(request)).toMatchObject({ outcome: 'response' });
    expect(resolutions).toBe(1);
    expect(await post(request)).toMatchObject({ outcome: 'blocked' }); // even though a connection is still open
    expect(await post(request)).toMatchObject({ outcome: 'response' });
    expect(await post(request)).toMatchObject({ outcome: 'blocked' });
    expect(resolutions).toBe(4);
    expect(targets.map(({ host }) => host)).toEqual([publicAddress, otherAddress]);
  });
});

describe('reusable connections', () => {
  it('have no listeners from earlier requests', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { receiver, post } = await start(say(ok));
    for (let time = 0; time < 15; time++) await post(request);
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(receiver.connections()).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('are reused only for the same address, name and account', async () => {
    const { receiver, post } = await start(say(ok));
    for (const accountId of ['acme', 'other', 'acme', 'other'])
      await post({ ...request, accountId, url: `https://receiver.example.com/${accountId}` });
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 2, 1, 2]);
  });

  it('are not reused for another address of the name or another name at the address', async () => {
    let address = publicAddress;
    const { receiver, targets, post } = await start(say(ok), { resolve: async () => [address] });
    await post(request);
    address = otherAddress;
    await post(request);
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 2]);
    expect(await post({ ...request, url: 'https://other.example.com/' })).toMatchObject({ outcome: 'tls' });
    expect(targets.map(({ host }) => host)).toEqual([publicAddress, otherAddress, otherAddress]);
  });

  it('are replaced once with a new connection if the receiver closed them without sending a byte', async () => {
    const { receiver, post } = await start(inTurn(say(ok), say(ok), reset, say(ok)));
    await Promise.all([post(request), post(request)]);
    expect(await post(request)).toMatchObject({ outcome: 'response', status: 200 });
    expect(receiver.requests).toMatchObject([{}, {}, {}, { connection: 3 }]); // connection 2 may also be closed
  });

  it('are replaced if they break while the request is written', async () => {
    const { receiver, connections, post } = await start(say(ok));
    await post(request);
    for (const socket of Object.values(connections.reusable.freeSockets).flat()) {
      const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
      if (socket) socket.write = () => socket.destroy(broken) === undefined;
    }
    expect(await post(request)).toMatchObject({ outcome: 'response', status: 200 });
    expect(receiver.requests).toMatchObject([{ connection: 1 }, { connection: 2 }]);
  });

  it('are replaced only once', async () => {
    const { receiver, post } = await start(inTurn(say(ok), reset));
    await post(request);
    expect(await post(request)).toMatchObject({ outcome: 'connection', errorCode: 'ECONNRESET' });
    expect(receiver.requests).toHaveLength(3);
  });

  it('are replaced only once for any number of addresses', async () => {
    const fates = new Map<string, 'ECONNREFUSED'>();
    let addresses = [publicAddress];
    const resolve = async () => addresses;
    const { receiver, post } = await start(inTurn(say(ok), say(ok), reset), { resolve, fates });
    await post(request);
    addresses = [otherAddress];
    await post(request);
    addresses = [publicAddress, otherAddress];
    for (const address of addresses) fates.set(address, 'ECONNREFUSED');
    expect(await post(request)).toMatchObject({ outcome: 'connection', errorCode: 'ECONNREFUSED' });
    expect(receiver.requests).toHaveLength(3);
  });

  it.each<[string, [Play, ...Play[]], number]>([
    ['a reused one after a byte', [say(ok), socket => socket.write('HTTP/1.1 200', () => socket.destroy())], 2],
    ['a new one', [reset, say(ok)], 1],
  ])('are not replaced if the receiver closes %s, which is a failure', async (_case, plays, requests) => {
    const { receiver, post } = await start(inTurn(...plays));
    for (let sent = 1; sent < requests; sent++) await post(request);
    expect(await post(request)).toMatchObject({ outcome: 'connection', errorCode: 'ECONNRESET' });
    expect(receiver.requests).toHaveLength(requests);
  });

  it('are limited to 200 for any number of hosts', async () => {
    const { targets, post, connections } = await start(say(ok), { names: { dns: ['*.example.com'] } });
    for (let host = 0; host < 300; host++) await post({ ...request, url: `https://r${host}.example.com/` });
    expect(targets).toHaveLength(300);
    const open = () => Object.keys(connections.reusable.freeSockets);
    await expect.poll(open).toHaveLength(200); // the last surplus connection is closing
    expect(open().some(name => name.includes('r299.example.com'))).toBe(true);
    expect(open().some(name => name.includes('r0.example.com'))).toBe(false);
  });
});
