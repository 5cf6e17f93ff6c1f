import { createSocket } from 'node:dgram';
import type { ResolverOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  makeResolver,
  type NameServer,
  nameServerOptions,
  ResolutionError,
} from '../../../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { makeUrlValidation, registrationNameServerOptions } from '../../../../lambdas/webhooks/url-validation.ts';
import { runLoopUntil } from '../../../support/virtual-time.ts';

/** The time of a response in milliseconds, and its addresses or its error code. */
type DnsResponse = readonly [after: number, answer: readonly string[] | string];

const never = new AbortController().signal;

/** Resolves a name in virtual time. Returns the result, its time and the number of cancellations. */
const resolveWith = async (a: DnsResponse, aaaa: DnsResponse): Promise<object> => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const later = ([after, answer]: DnsResponse) =>
    new Promise<string[]>((resolve, reject) => {
      const failure = Object.assign(new Error(`query ${answer}`), { code: answer });
      setTimeout(() => (typeof answer === 'string' ? reject(failure) : resolve([...answer])), after);
    });
  const server = { resolve4: () => later(a), resolve6: () => later(aaaa), cancel: vi.fn() };
  const startedAt = Date.now();
  const result = makeResolver(() => server as unknown as NameServer)('receiver.example.com', never).then(
    addresses => ({ addresses, after: Date.now() - startedAt }),
    ({ fault, message }: ResolutionError) => ({ fault, message, after: Date.now() - startedAt }),
  );
  await vi.runAllTimersAsync();
  expect(server.cancel).toHaveBeenCalledOnce();
  return result;
};

// A name is resolved once per attempt, with parallel queries for A and AAAA. The wait for AAAA is up to 300 ms longer.
describe('the addresses of a name', () => {
  const four = ['93.184.216.34'];
  const six = ['2606:4700::1'];
  const many = (count: number) => Array.from({ length: count }, (_, index) => `93.184.${index >> 8}.${index & 255}`);
  const tooMany = { fault: 'temporary', message: 'TOO_MANY_ADDRESSES' };

  it.each<[string, DnsResponse, DnsResponse, object]>([
    ['both families', [0, four], [0, six], { addresses: [...four, ...six] }],
    ['IPv4 without IPv6', [0, four], [0, 'ENODATA'], { addresses: four }],
    ['IPv4 if the IPv6 query fails', [0, four], [0, 'ESERVFAIL'], { addresses: four }],
    ['IPv6 without IPv4', [0, 'ENODATA'], [0, six], { addresses: six }],
    ['IPv6 if the IPv4 response is empty', [0, []], [0, six], { addresses: six }],
    ['not found: no name', [0, 'ENOTFOUND'], [0, 'ENOTFOUND'], { fault: 'not_found', message: 'ENOTFOUND' }],
    ['not found: no address', [0, 'ENODATA'], [0, 'ENODATA'], { fault: 'not_found', message: 'ENODATA' }],
    ['temporary: both fail', [0, 'ESERVFAIL'], [0, 'ESERVFAIL'], { fault: 'temporary', message: 'ESERVFAIL' }],
    ['temporary: A fails', [0, 'ETIMEOUT'], [0, six], { fault: 'temporary', message: 'ETIMEOUT' }],
    ['temporary: no response', [0, 'ECONNREFUSED'], [0, 'ECONNREFUSED'], { fault: 'temporary' }],
    ['an internal error', [0, 'ENOMEM'], [0, 'ENOMEM'], { fault: 'internal_error', message: 'ENOMEM' }],
    // Checking all addresses in a 64 KiB response took 14 ms of CPU time.
    ['256 addresses', [0, many(200)], [0, many(56)], { addresses: [...many(200), ...many(56)] }],
    ['too many A records', [0, many(257)], [0, 'ENODATA'], tooMany],
    ['too many AAAA records', [0, 'ENODATA'], [0, many(257)], tooMany],
    ['too many records of both types', [0, many(200)], [0, many(57)], tooMany],
    ['AAAA never arrives', [50, four], [3_600_000, six], { addresses: four, after: 350 }],
    ['AAAA is a little late', [50, four], [349, six], { addresses: [...four, ...six], after: 349 }],
    ['AAAA is too late', [50, four], [351, six], { addresses: four, after: 350 }],
    ['AAAA is earlier than A', [900, four], [10, six], { addresses: [...four, ...six], after: 900 }],
    ['AAAA fails late', [50, four], [200, 'ESERVFAIL'], { addresses: four, after: 200 }],
    ['a late private address is included', [0, four], [299, ['::1']], { addresses: [...four, '::1'], after: 299 }],
    ['AAAA never arrives, without A', [50, 'ENODATA'], [3_600_000, six], { fault: 'not_found', after: 350 }],
    ['AAAA is a little late, without A', [50, 'ENODATA'], [200, six], { addresses: six, after: 200 }],
    ['AAAA never arrives, and A fails', [50, 'ESERVFAIL'], [3_600_000, six], { fault: 'temporary', after: 50 }],
  ])('are resolved, and pending queries are cancelled: %s', async (_case, a, aaaa, expected) => {
    expect(await resolveWith(a, aaaa)).toMatchObject(expected);
  });

  it('are not resolved if the signal has already aborted', async () => {
    const resolve = makeResolver(() => {
      throw new Error('must not be called');
    });
    await expect(resolve('receiver.example.com', AbortSignal.abort())).rejects.toThrow(ResolutionError);
  });
});

describe('a real name server', () => {
  const typeA = 1;

  const addressRecord = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 216, 34]);
  const loopRecord = Buffer.from([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, 12]);

  const flags = { answer: 0x8180, truncatedAnswer: 0x8380 }; // with recursion available

  /** Returns the response to a query (RFC 1035 section 4.1), which is the query's bytes with other flags and a record. */
  const respondTo = (question: Buffer, record: Buffer, flag: number): Buffer => {
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(flag, 2);
    header.writeUInt16BE(1, 6); // one record
    header.writeUInt16BE(0, 10); // no additional records
    const end = question.indexOf(0, 12) + 5;
    return Buffer.concat([header, question.subarray(12, end), record]);
  };

  /** Starts a name server that responds to queries of these types, except the first `lost` of each type. */
  const startServer = async (
    types: readonly number[],
    record = addressRecord,
    options: ResolverOptions = nameServerOptions,
    { lost = 0, flag = flags.answer } = {},
  ) => {
    const queries: number[] = [];
    const socket = createSocket('udp4', (question, from) => {
      const type = question.readUInt16BE(question.indexOf(0, 12) + 1);
      queries.push(type);
      const isLost = queries.filter(other => other === type).length <= lost;
      if (types.includes(type) && !isLost) socket.send(respondTo(question, record, flag), from.port, from.address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    onTestFinished(() => void socket.close());
    const newNameServer = () => {
      const server = new Resolver(options);
      server.setServers([`127.0.0.1:${socket.address().port}`]);
      return server;
    };
    return { queries, resolve: makeResolver(newNameServer) };
  };

  it('that returns an alias of itself causes a DNS failure, not a blocked outcome', async () => {
    const { resolve } = await startServer([typeA, 28], loopRecord);
    const failure = { fault: 'not_found', message: 'ENODATA' };
    await expect(resolve('receiver.example.com', never)).rejects.toMatchObject(failure);
  });

  it('is queried again before the deadline of a registration if its first response is lost', async () => {
    const { queries, resolve } = await startServer([typeA], addressRecord, registrationNameServerOptions, { lost: 1 });
    const { validateHost } = makeUrlValidation({ ...systemTime, resolve, ownHosts: [] });
    expect(await validateHost('https://receiver.example.com/')).toEqual([]);
    expect(queries.filter(type => type === typeA)).toHaveLength(2);
  });

  // A DNS response with about 30 addresses is truncated.
  it('that truncates its response and rejects TCP causes a temporary failure', async () => {
    const flag = flags.truncatedAnswer;
    const { resolve } = await startServer([typeA, 28], addressRecord, nameServerOptions, { flag });
    const failure = { fault: 'temporary', message: 'ECONNREFUSED' };
    await expect(resolve('receiver.example.com', never)).rejects.toMatchObject(failure);
  });

  it('that does not respond is no longer queried after the signal aborts', async () => {
    const { queries, resolve } = await startServer([]);
    const abort = new AbortController();
    const rejection = expect(resolve('receiver.example.com', abort.signal)).rejects.toMatchObject({
      message: 'ECANCELLED',
    });
    await runLoopUntil(() => queries.length === 2);
    abort.abort();
    await rejection; // without the signal, it would end with ETIMEOUT
  });

  // c-ares doubles each wait up to `maxTimeout`.
  it('that does not respond is queried twice, with the same timeout', async () => {
    const { timeout, maxTimeout } = nameServerOptions;
    expect(maxTimeout).toBe(timeout);
    const shorter = { ...nameServerOptions, timeout: timeout / 20, maxTimeout: maxTimeout / 20 };
    const { queries, resolve } = await startServer([], addressRecord, shorter);
    await expect(resolve('receiver.example.com', never)).rejects.toMatchObject({ message: 'ETIMEOUT' });
    expect(queries).toHaveLength(4); // for IPv4 and IPv6
  });
});
