import { describe, expect, it } from 'vitest';
import { makeResolver, type NameServer, ResolutionError } from '../../../../lambdas/platform/egress/resolver.ts';

type Answer = readonly string[] | string;

const settle = async (answer: Answer): Promise<string[]> => {
  if (typeof answer === 'string') throw Object.assign(new Error(`query ${answer}`), { code: answer });
  return [...answer];
};

/** A name server that answers with addresses, or fails with a code. */
const serverOf = (four: Answer, six: Answer) => (): NameServer =>
  ({ resolve4: () => settle(four), resolve6: () => settle(six), cancel: () => {} }) as unknown as NameServer;

const never = new AbortController().signal;
const resolveWith = (four: Answer, six: Answer) => makeResolver(serverOf(four, six))('receiver.example.com', never);

describe('makeResolver', () => {
  it.each<[string, Answer, Answer, readonly string[]]>([
    ['both families', ['93.184.216.34'], ['2606:4700::1'], ['93.184.216.34', '2606:4700::1']],
    ['IPv4 when there is no IPv6', ['93.184.216.34'], 'ENODATA', ['93.184.216.34']],
    ['IPv4 when the IPv6 question fails', ['93.184.216.34'], 'ESERVFAIL', ['93.184.216.34']],
    ['IPv6 when there is no IPv4', 'ENODATA', ['2606:4700::1'], ['2606:4700::1']],
  ])('gives %s', async (_case, four, six, expected) => {
    expect(await resolveWith(four, six)).toEqual(expected);
  });

  it.each<[string, Answer, Answer]>([
    ['not_found', 'ENOTFOUND', 'ENOTFOUND'],
    ['not_found', 'ENODATA', 'ENODATA'],
    ['temporary', 'ESERVFAIL', 'ESERVFAIL'],
    ['temporary', 'ETIMEOUT', ['2606:4700::1']],
    ['temporary', 'ECONNREFUSED', 'ECONNREFUSED'],
    ['own_fault', 'ENOMEM', 'ENOMEM'],
  ])('fails as %s for %s', async (fault, four, six) => {
    await expect(resolveWith(four, six)).rejects.toThrow(ResolutionError);
    await expect(resolveWith(four, six)).rejects.toMatchObject({ fault, message: four });
  });

  it('cancels its questions when the signal aborts, and listens no longer than needed', async () => {
    const abort = new AbortController();
    let fail: (error: Error) => void = () => {};
    const pending = new Promise<string[]>((_resolve, reject) => {
      fail = reject;
    });
    const server = {
      resolve4: () => pending,
      resolve6: () => pending,
      cancel: () => fail(Object.assign(new Error('cancelled'), { code: 'ECANCELLED' })),
    } as unknown as NameServer;
    const answer = makeResolver(() => server)('receiver.example.com', abort.signal);
    abort.abort();
    await expect(answer).rejects.toMatchObject({ fault: 'temporary', message: 'ECANCELLED' });
  });

  it('asks nothing once the signal has aborted', async () => {
    const resolve = makeResolver(() => {
      throw new Error('asked');
    });
    await expect(resolve('receiver.example.com', AbortSignal.abort())).rejects.toThrow(ResolutionError);
  });
});
