import { describe, expect, it, vi } from 'vitest';
import { ResolutionError, type Resolve } from '../../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import { webhookFindings } from '../../../lambdas/webhooks/findings.ts';
import { makeUrlValidation } from '../../../lambdas/webhooks/url-validation.ts';

/* The URL of a webhook is public (`docs/en/webhooks.md`, "Rules for URLs"). */

const check = async (text: string, resolve: Resolve) => {
  const urls = makeUrlValidation({ ...systemTime, resolve, ownHosts: ['base.example.net'] });
  const findings = urls.validateText(text);
  return findings.length > 0 ? findings : urls.validateHost(text);
};

describe('makeUrlValidation', () => {
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
    ['https://base.example.net/', ['url_not_public']],
    ['https://93.184.216.34/', []],
    ['https://93.184.216.34./', []],
    ['https://0x5db8d822/', []],
  ])('judges %s without a lookup', async (text, expected) => {
    const unasked: Resolve = async name => {
      throw new Error(`asked for ${name}`);
    };
    expect((await check(text, unasked)).map(finding => finding.code)).toEqual(expected);
  });

  it('refuses a name as temporarily unresolvable if its name servers fail', async () => {
    const fail: Resolve = () => Promise.reject(new ResolutionError('temporary', 'ESERVFAIL'));
    expect(await check('https://receiver.example.com/', fail)).toMatchObject([
      { pointer: '/url', detail: { en: webhookFindings.temporary.en, pt: webhookFindings.temporary.pt } },
    ]);
  });

  it('waits 2 s for a name server that stays silent', async () => {
    vi.useFakeTimers();
    const answered = vi.fn();
    const findings = check('https://receiver.example.com/', () => new Promise(() => {}));
    void findings.then(answered);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await findings).toMatchObject([{ code: 'url_not_public' }]);
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
