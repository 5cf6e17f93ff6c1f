import { describe, expect, it, vi } from 'vitest';
import { makeResolveDestination } from '../../../../lambdas/platform/egress/resolve-destination.ts';
import { ResolutionError, type Resolve } from '../../../../lambdas/platform/egress/resolver.ts';

const ownHosts = ['base.emissor.example.net'];
const publicAddress = '93.184.216.34';

function resolveTo(...addresses: string[]) {
  return makeResolveDestination({ resolve: async () => addresses, ownHosts });
}

const { signal } = new AbortController();

describe('resolveDestination', () => {
  it('gives the public addresses of a name, and the name without its trailing dot', async () => {
    expect(await resolveTo(publicAddress)('https://Receiver.example.com./hook', signal)).toMatchObject({
      outcome: 'resolved',
      host: 'receiver.example.com',
      isLiteral: false,
      addresses: [publicAddress],
    });
  });

  it.each(['https://93.184.216.34/', 'https://93.184.216.34./', 'https://0x5db8d822/'])(
    'takes the IPv4 literal of %s as it is, without DNS',
    async url => {
      const resolve = vi.fn<Resolve>();
      expect(await makeResolveDestination({ resolve, ownHosts })(url, signal)).toMatchObject({
        outcome: 'resolved',
        host: publicAddress,
        isLiteral: true,
        addresses: [publicAddress],
      });
      expect(resolve).not.toHaveBeenCalled();
    },
  );

  it('gives why a name does not resolve, and throws for a failure of our own resolver', async () => {
    const failing = (fault: ResolutionError['fault'], code: string) =>
      makeResolveDestination({ resolve: () => Promise.reject(new ResolutionError(fault, code)), ownHosts });
    const url = 'https://receiver.example.com/';
    expect(await failing('not_found', 'ENOTFOUND')(url, signal)).toEqual({
      outcome: 'unresolved',
      fault: 'not_found',
      detail: 'ENOTFOUND',
    });
    await expect(failing('internal_error', 'EMFILE')(url, signal)).rejects.toBeInstanceOf(ResolutionError);
  });

  it('ends with its signal, whatever the resolver does', async () => {
    const resolveDestination = makeResolveDestination({ resolve: () => new Promise(() => {}), ownHosts });
    expect(await resolveDestination('https://receiver.example.com/', AbortSignal.abort())).toMatchObject({
      outcome: 'unresolved',
      fault: 'temporary',
    });
  });
});
