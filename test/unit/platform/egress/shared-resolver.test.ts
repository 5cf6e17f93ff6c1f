import { describe, expect, it } from 'vitest';
import { ResolutionError, type Resolve } from '../../../../lambdas/platform/egress/resolver.ts';
import { makeSharedResolver } from '../../../../lambdas/platform/egress/shared-resolver.ts';
import { frozenClock } from '../../../support/clock.ts';

const never = new AbortController().signal;
const addresses = ['93.184.216.34'];

/** Creates a shared resolver with lookups that the test settles, in the order of their start. */
const sharing = () => {
  const clock = frozenClock();
  const lookups: (PromiseWithResolvers<readonly string[]> & { signal: AbortSignal })[] = [];
  const lookUp: Resolve = (_name, signal) => {
    const lookup = { ...Promise.withResolvers<readonly string[]>(), signal };
    lookups.push(lookup);
    return lookup.promise;
  };
  return { clock, lookups, resolve: makeSharedResolver(lookUp, clock.now) };
};

// Simultaneous attempts share a lookup of their host, but do not use older lookups, because each attempt must detect DNS rebinding.
describe('lookups of one name', () => {
  it('are shared by calls within 100 ms, during and after the lookup', async () => {
    const { clock, lookups, resolve } = sharing();
    const first = resolve('a.example', never);
    clock.advance(50);
    const second = resolve('a.example', never);
    lookups[0]?.resolve(addresses);
    expect(await Promise.all([first, second])).toEqual([addresses, addresses]);
    clock.advance(49);
    expect(await resolve('a.example', never)).toEqual(addresses);
    expect(lookups).toHaveLength(1);
  });

  it.each([
    ['100 ms after the start', 100],
    ['if the clock was set back', -1],
  ])('are not shared %s, even if they are in flight', (_case, milliseconds) => {
    const { clock, lookups, resolve } = sharing();
    void resolve('a.example', never);
    clock.advance(milliseconds);
    void resolve('a.example', never);
    expect(lookups).toHaveLength(2);
  });

  it('are shared for 100 ms even if they fail', async () => {
    const { clock, lookups, resolve } = sharing();
    const calls = [resolve('a.example', never), resolve('a.example', never)];
    lookups[0]?.reject(new ResolutionError('temporary', 'ESERVFAIL'));
    for (const call of calls) await expect(call).rejects.toMatchObject({ message: 'ESERVFAIL' });
    clock.advance(100);
    void resolve('a.example', never);
    expect(lookups).toHaveLength(2);
  });
});

describe('a call that is aborted', () => {
  it('ends at once, but does not end the lookup that others share', async () => {
    const { lookups, resolve } = sharing();
    const impatient = new AbortController();
    const aborted = resolve('a.example', impatient.signal);
    const patient = resolve('a.example', never);
    impatient.abort();
    await expect(aborted).rejects.toMatchObject({ fault: 'temporary', message: 'ECANCELLED' });
    expect(lookups[0]?.signal.aborted).toBe(false);
    lookups[0]?.resolve(addresses);
    expect(await patient).toEqual(addresses);
  });

  it('ends the lookup if no other call shares it, and the next call starts another lookup', async () => {
    const { lookups, resolve } = sharing();
    const controllers = [new AbortController(), new AbortController()];
    const calls = controllers.map(({ signal }) => resolve('a.example', signal));
    for (const [index, controller] of controllers.entries()) {
      controller.abort();
      await expect(calls[index]).rejects.toThrow(ResolutionError);
    }
    expect(lookups[0]?.signal.aborted).toBe(true);
    void resolve('a.example', never);
    expect(lookups).toHaveLength(2);
  });

  it('before its start does not start a lookup', async () => {
    const { lookups, resolve } = sharing();
    await expect(resolve('a.example', AbortSignal.abort())).rejects.toThrow(ResolutionError);
    expect(lookups).toEqual([]);
  });
});

describe('the cache of lookups', () => {
  it('contains 1,000 names, and calls for a removed name still receive their result', async () => {
    const { lookups, resolve } = sharing();
    const first = resolve('0.example', never);
    for (let name = 1; name <= 1_000; name++) void resolve(`${name}.example`, never);
    void resolve('1.example', never);
    expect(lookups).toHaveLength(1_001);
    void resolve('0.example', never);
    expect(lookups).toHaveLength(1_002);
    lookups[0]?.resolve(addresses);
    expect(await first).toEqual(addresses);
  });
});
