import { describe, expect, it, vi } from 'vitest';
import { ResolutionError, type Resolve } from '../../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import { webhookFindings } from '../../../lambdas/webhooks/findings.ts';
import { makeUrlValidation } from '../../../lambdas/webhooks/url-validation.ts';

/* Tests that the URL of a webhook must be public (`docs/en/webhooks.md`, "Rules for URLs"). */

const check = async (text: string, resolve: Resolve) => {
  const urls = makeUrlValidation({ ...systemTime, resolve, ownHosts: ['base.example.net'] });
  const findings = urls.validateText(text);
  return findings.length > 0 ? findings : urls.validateHost(text);
};

describe('makeUrlValidation', () => {
  it('resolves the name without its trailing dot and accepts public addresses', async () => {
    const queried: string[] = [];
    const resolve: Resolve = async name => {
      queried.push(name);
      return ['93.184.216.34', '2606:4700::1'];
    };
    expect(await check('https://Receiver.example.com.:8443/hook', resolve)).toEqual([]);
    expect(queried).toEqual(['receiver.example.com']);
  });

  it.each([
    ['https://base.example.net/', ['url_not_public']],
    ['https://93.184.216.34/', []],
    ['https://93.184.216.34./', []],
    ['https://0x5db8d822/', []],
  ])('checks %s without a DNS query', async (text, expected) => {
    const unexpected: Resolve = async name => {
      throw new Error(`queried for ${name}`);
    };
    expect((await check(text, unexpected)).map(finding => finding.code)).toEqual(expected);
  });

  it('reports a temporary failure if the name servers of the host fail', async () => {
    const fail: Resolve = () => Promise.reject(new ResolutionError('temporary', 'ESERVFAIL'));
    expect(await check('https://receiver.example.com/', fail)).toMatchObject([
      { pointer: '/url', detail: { en: webhookFindings.temporary.en, pt: webhookFindings.temporary.pt } },
    ]);
  });

  it('waits at most 2 s for a name server that does not respond', async () => {
    vi.useFakeTimers();
    const settled = vi.fn();
    const findings = check('https://receiver.example.com/', () => new Promise(() => {}));
    void findings.then(settled);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await findings).toMatchObject([{ code: 'url_not_public' }]);
    vi.useRealTimers();
  });

  it('throws for an internal error instead of reporting a finding', async () => {
    const fail: Resolve = () => Promise.reject(new ResolutionError('internal_error', 'ENOMEM'));
    await expect(check('https://receiver.example.com/', fail)).rejects.toThrow(ResolutionError);
  });

  it('reports an address that is not public', async () => {
    const findings = await check('https://receiver.example.com/', async () => ['93.184.216.34', '10.0.0.7']);
    const address = expect.stringContaining('10.0.0.7');
    expect(findings).toMatchObject([{ detail: { en: address, pt: address } }]);
  });
});
