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
import { turnsUntil } from '../../../support/virtual-time.ts';

/** Addresses, or the code of an error, and the milliseconds after which they come. */
type Answer = readonly [after: number, answer: readonly string[] | string];

const never = new AbortController().signal;

/** Asks a name server for A and AAAA, in virtual time. Returns the result, its time, and how often the queries were cancelled. */
const resolveWith = async (a: Answer, aaaa: Answer): Promise<object> => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const later = ([after, answer]: Answer) =>
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

// A name is resolved once for each attempt, by questions for A and AAAA at once; AAAA gets 300 ms more than A.
describe('the addresses of a name', () => {
  const four = ['93.184.216.34'];
  const six = ['2606:4700::1'];
  const many = (count: number) => Array.from({ length: count }, (_, index) => `93.184.${index >> 8}.${index & 255}`);
  const tooMany = { fault: 'temporary', message: 'TOO_MANY_ADDRESSES' };

  it.each<[string, Answer, Answer, object]>([
    ['both families', [0, four], [0, six], { addresses: [...four, ...six] }],
    ['IPv4 without IPv6', [0, four], [0, 'ENODATA'], { addresses: four }],
    ['IPv4 if the IPv6 question fails', [0, four], [0, 'ESERVFAIL'], { addresses: four }],
    ['IPv6 without IPv4', [0, 'ENODATA'], [0, six], { addresses: six }],
    ['IPv6 if the IPv4 answer is empty', [0, []], [0, six], { addresses: six }],
    ['not found: no name', [0, 'ENOTFOUND'], [0, 'ENOTFOUND'], { fault: 'not_found', message: 'ENOTFOUND' }],
    ['not found: no address', [0, 'ENODATA'], [0, 'ENODATA'], { fault: 'not_found', message: 'ENODATA' }],
    ['temporary: both fail', [0, 'ESERVFAIL'], [0, 'ESERVFAIL'], { fault: 'temporary', message: 'ESERVFAIL' }],
    ['temporary: A fails', [0, 'ETIMEOUT'], [0, six], { fault: 'temporary', message: 'ETIMEOUT' }],
    ['temporary: no answer', [0, 'ECONNREFUSED'], [0, 'ECONNREFUSED'], { fault: 'temporary' }],
    ['our own fault', [0, 'ENOMEM'], [0, 'ENOMEM'], { fault: 'internal_error', message: 'ENOMEM' }],
    // Each is checked: an answer of 64 KiB cost 14 ms of processor time.
    ['256 addresses', [0, many(200)], [0, many(56)], { addresses: [...many(200), ...many(56)] }],
    ['more of A', [0, many(257)], [0, 'ENODATA'], tooMany],
    ['more of AAAA', [0, 'ENODATA'], [0, many(257)], tooMany],
    ['more of both', [0, many(200)], [0, many(57)], tooMany],
    ['AAAA never comes', [50, four], [3_600_000, six], { addresses: four, after: 350 }],
    ['AAAA is a little late', [50, four], [349, six], { addresses: [...four, ...six], after: 349 }],
    ['AAAA is too late', [50, four], [351, six], { addresses: four, after: 350 }],
    ['AAAA is earlier than A', [900, four], [10, six], { addresses: [...four, ...six], after: 900 }],
    ['AAAA fails late', [50, four], [200, 'ESERVFAIL'], { addresses: four, after: 200 }],
    ['a late bad address counts', [0, four], [299, ['::1']], { addresses: [...four, '::1'], after: 299 }],
    ['AAAA never comes, without A', [50, 'ENODATA'], [3_600_000, six], { fault: 'not_found', after: 350 }],
    ['AAAA is a little late, without A', [50, 'ENODATA'], [200, six], { addresses: six, after: 200 }],
    ['AAAA never comes, and A fails', [50, 'ESERVFAIL'], [3_600_000, six], { fault: 'temporary', after: 50 }],
  ])('are resolved, and unanswered queries cancelled: %s', async (_case, a, aaaa, expected) => {
    expect(await resolveWith(a, aaaa)).toMatchObject(expected);
  });

  it('are not looked up after the signal has aborted', async () => {
    const resolve = makeResolver(() => {
      throw new Error('asked');
    });
    await expect(resolve('receiver.example.com', AbortSignal.abort())).rejects.toThrow(ResolutionError);
  });
});

describe('a name server on the wire', () => {
  const typeA = 1;

  const addressRecord = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 216, 34]);
  const loopRecord = Buffer.from([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, 12]);

  const flags = { answer: 0x8180, truncatedAnswer: 0x8380 }; // with recursion available

  /** The answer to a question (RFC 1035 section 4.1): its own bytes, marked as an answer, and a record. */
  const answerTo = (question: Buffer, record: Buffer, flag: number): Buffer => {
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(flag, 2);
    header.writeUInt16BE(1, 6); // one record
    header.writeUInt16BE(0, 10); // no additional ones
    const end = question.indexOf(0, 12) + 5;
    return Buffer.concat([header, question.subarray(12, end), record]);
  };

  /** Answers questions of these types but for the first `lost` of each, and leaves others unanswered. */
  const startServer = async (
    types: readonly number[],
    record = addressRecord,
    options: ResolverOptions = nameServerOptions,
    { lost = 0, flag = flags.answer } = {},
  ) => {
    const asked: number[] = [];
    const socket = createSocket('udp4', (question, from) => {
      const type = question.readUInt16BE(question.indexOf(0, 12) + 1);
      asked.push(type);
      const isLost = asked.filter(other => other === type).length <= lost;
      if (types.includes(type) && !isLost) socket.send(answerTo(question, record, flag), from.port, from.address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    onTestFinished(() => void socket.close());
    const newNameServer = () => {
      const server = new Resolver(options);
      server.setServers([`127.0.0.1:${socket.address().port}`]);
      return server;
    };
    return { asked, resolve: makeResolver(newNameServer) };
  };

  it('returns no address for an alias of itself, which is not reported as blocked', async () => {
    const { resolve } = await startServer([typeA, 28], loopRecord);
    const failure = { fault: 'not_found', message: 'ENODATA' };
    await expect(resolve('receiver.example.com', never)).rejects.toMatchObject(failure);
  });

  it('whose first answer is lost is asked again before the deadline of a registration', async () => {
    const { asked, resolve } = await startServer([typeA], addressRecord, registrationNameServerOptions, { lost: 1 });
    const { validateHost } = makeUrlValidation({ ...systemTime, resolve, ownHosts: [] });
    expect(await validateHost('https://receiver.example.com/')).toEqual([]);
    expect(asked.filter(type => type === typeA)).toHaveLength(2);
  });

  // A DNS answer of about 30 addresses is truncated.
  it('that truncates its answer and rejects TCP fails for now', async () => {
    const flag = flags.truncatedAnswer;
    const { resolve } = await startServer([typeA, 28], addressRecord, nameServerOptions, { flag });
    const failure = { fault: 'temporary', message: 'ECONNREFUSED' };
    await expect(resolve('receiver.example.com', never)).rejects.toMatchObject(failure);
  });

  it('that does not respond is abandoned when the signal aborts', async () => {
    const { asked, resolve } = await startServer([]);
    const abort = new AbortController();
    const refused = expect(resolve('receiver.example.com', abort.signal)).rejects.toMatchObject({
      message: 'ECANCELLED',
    });
    await turnsUntil(() => asked.length === 2);
    abort.abort();
    await refused; // left to itself it would end as ETIMEOUT
  });

  // c-ares doubles each wait, but never beyond `maxTimeout`.
  it('that does not respond is queried twice, with the same timeout', async () => {
    const { timeout, maxTimeout } = nameServerOptions;
    expect(maxTimeout).toBe(timeout);
    const shorter = { ...nameServerOptions, timeout: timeout / 20, maxTimeout: maxTimeout / 20 };
    const { asked, resolve } = await startServer([], addressRecord, shorter);
    await expect(resolve('receiver.example.com', never)).rejects.toMatchObject({ message: 'ETIMEOUT' });
    expect(asked).toHaveLength(4); // for IPv4 and IPv6
  });
});
