import { describe, expect, it, vi } from 'vitest';
import { makeScheduledTest, standingIdentity } from '../../../lambdas/smoke/scheduled-test.ts';
import type { SmokeEffects } from '../../../lambdas/smoke/smoke-test.ts';
import { makeFakeService, type Script, secrets } from './fake-service.ts';

const { clientSecret, password } = secrets;
const credentials = JSON.stringify({ clientId: 'client', clientSecret, username: 'schedule@smoke.invalid', password });

const runOnce = async (
  parameter: string | undefined,
  script: Script = () => undefined,
  { meanwhile, ...changes }: Partial<SmokeEffects> & { readonly meanwhile?: () => Promise<unknown> } = {},
) => {
  const fake = makeFakeService({ script });
  const lines: unknown[] = [];
  const log =
    (level: string) =>
    (...line: unknown[]) =>
      void lines.push([level, ...line]);
  const { removeLeftOvers: _, ...effects } = fake.effects;
  const run = makeScheduledTest({
    effects: { ...effects, identity: standingIdentity(async () => parameter), ...changes },
    log: { info: log('info'), warn: log('warn'), error: log('error') },
  });
  const [thrown] = await Promise.all([run().catch(error => String(error)), meanwhile?.()]);
  return { fake, lines, thrown };
};

describe('the scheduled test', () => {
  it('logs that it passed, and tidies up', async () => {
    const { fake, lines, thrown } = await runOnce(credentials);
    expect(thrown).toBeUndefined();
    expect(lines).toEqual([['info', 'smoke.passed', expect.objectContaining({ deliveryId: expect.any(String) })]]);
    expect([...fake.webhooks.keys()]).toEqual([]);
    expect(fake.state.sessions).toBe(0);
  });

  it('logs that it failed, and throws, both without a secret', async () => {
    const { lines, thrown } = await runOnce(credentials, call =>
      call === 'publish' ? new Error(`no ${password}`) : undefined,
    );
    expect(thrown).toBe('Error: The smoke test failed at "publish".');
    expect(lines).toEqual([
      [
        'error',
        'smoke.failed',
        expect.objectContaining({ step: 'publish', reason: 'Error', times: expect.any(Object) }),
      ],
    ]);
    for (const secret of Object.values(secrets)) expect(JSON.stringify(lines)).not.toContain(secret);
  });

  it.each([
    ['is missing', undefined, /^the scheduled test has no client and user yet$/],
    ['holds something else', `{"password":"${password}"`, /^the parameter holds no client and user$/],
  ])('says what makes its client and user where the parameter %s', async (_case, parameter, reason) => {
    const { lines, thrown } = await runOnce(parameter);
    expect(thrown).toBe('Error: The smoke test failed at "client and user".');
    expect(lines).toEqual([
      [
        'error',
        'smoke.failed',
        expect.objectContaining({
          step: 'client and user',
          reason: expect.stringMatching(reason),
          lookAt: expect.stringContaining('"smoke rotate-credentials"'),
        }),
      ],
    ]);
    expect(JSON.stringify(lines)).not.toContain(password);
  });

  it('ends its steps in time to tidy up', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { fake, thrown } = await runOnce(credentials, undefined, {
        publish: () => new Promise(() => undefined),
        meanwhile: () => vi.advanceTimersByTimeAsync(120_000),
      });
      expect(thrown).toBe('Error: The smoke test failed at "publish".');
      expect([...fake.webhooks.keys()]).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});
