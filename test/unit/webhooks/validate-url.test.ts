import { describe, expect, it, vi } from 'vitest';
import { ResolutionError, type Resolve } from '../../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import { makeValidateUrl } from '../../../lambdas/webhooks/validate-url.ts';

const check = (text: string, resolve: Resolve) =>
  makeValidateUrl({ ...systemTime, resolve, ownHosts: ['base.example.net'] })(text);
const unasked: Resolve = async name => {
  throw new Error(`asked for ${name}`);
};
const codes = async (text: string, resolve: Resolve) => (await check(text, resolve)).map(finding => finding.code);

describe('makeValidateUrl', () => {
  it('resolves the name without its trailing dot, and accepts public addresses', async () => {
    const asked: string[] = [];
    const resolve: Resolve = async name => {
      asked.push(name);
      return ['93.184.216.34', '2606:4700::1'];
    };
    expect(await check('https://Receiver.example.com.:8443/hook', resolve)).toEqual([]);
    expect(asked).toEqual(['receiver.example.com']);
  });

  it.each([
    ['http://receiver.example.com/', ['url_not_https']],
    ['https://localhost/', ['url_not_public']],
    ['https://10.0.0.1/', ['url_not_public']],
    ['https://base.example.net/', ['url_not_public']],
    ['https://93.184.216.34/', []],
    ['nonsense', ['url_invalid']],
  ])('judges %s without asking', async (text, expected) => {
    expect(await codes(text, unasked)).toEqual(expected);
  });

  it.each([
    [['127.0.0.1']],
    [['93.184.216.34', '192.168.0.1']],
    [['93.184.216.34', '::ffff:93.184.216.34']],
    [['2606:4700::1']],
    [[]],
  ])('refuses a host with the addresses %j', async addresses => {
    expect(await codes('https://receiver.example.com/', async () => addresses)).toEqual(['url_not_public']);
  });

  it.each([
    ['not_found', 'ENOTFOUND'],
    ['temporary', 'ESERVFAIL'],
    ['not_asked', 'ECONNREFUSED'],
  ] as const)('refuses a name that does not resolve (%s)', async (fault, code) => {
    const fail: Resolve = () => Promise.reject(new ResolutionError(fault, code));
    const [finding] = await check('https://receiver.example.com/', fail);
    expect(finding).toMatchObject({
      pointer: '/url',
      code: 'url_not_public',
      detail: { en: expect.stringContaining('resolve'), pt: expect.stringContaining('resolv') },
    });
  });

  it('does not wait for a name server that stays silent', async () => {
    vi.useFakeTimers();
    // Node's own AbortSignal.timeout is not under the fake clock.
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(milliseconds => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(), milliseconds);
      return abort.signal;
    });
    const findings = check('https://receiver.example.com/', () => new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await findings).toMatchObject([{ code: 'url_not_public' }]);
    timeout.mockRestore();
    vi.useRealTimers();
  });

  it('does not blame the URL for a fault of our own', async () => {
    const fail: Resolve = () => Promise.reject(new ResolutionError('internal_error', 'ENOMEM'));
    await expect(check('https://receiver.example.com/', fail)).rejects.toThrow(ResolutionError);
  });

  it('names the address for which a host is refused', async () => {
    const findings = await check('https://receiver.example.com/', async () => ['93.184.216.34', '10.0.0.7']);
    const address = expect.stringContaining('10.0.0.7');
    expect(findings).toMatchObject([{ detail: { en: address, pt: address } }]);
  });
});
