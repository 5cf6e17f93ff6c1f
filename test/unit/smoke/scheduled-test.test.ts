import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../lambdas/platform/random.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import { composeScheduledTest } from '../../../lambdas/smoke/scheduled-test.composition.ts';
import { identity, makeFakeService, type Script, secrets } from './fake-service.ts';

const runOnce = async (parameter: string | undefined, script: Script = () => undefined, isHanging = false) => {
  const { effects, webhooks } = makeFakeService({ script });
  const lines: unknown[] = [];
  const log =
    (level: string) =>
    (...line: unknown[]) =>
      void lines.push([level, ...line]);
  let end = () => {};
  const time = {
    ...systemTime,
    after: (milliseconds: number, callback: () => void) => {
      if (milliseconds === 120_000) end = callback;
      return () => undefined;
    },
  };
  const send = async ({ input }: { input: { MessageBody: string; MessageGroupId: string } }) => {
    await effects.publish(input.MessageBody, input.MessageGroupId);
    if (!isHanging) return;
    end();
    await new Promise(() => undefined);
  };
  const { authUrl, baseUrl, receiverUrl, fetch } = effects;
  const run = composeScheduledTest(
    { authUrl, baseUrl, receiverUrl, eventsQueueUrl: 'https://sqs/events', credentialsParameter: '/smoke/credentials' },
    {
      sqs: { send: send as never },
      readParameter: async name => (name === '/smoke/credentials' ? parameter : undefined),
      fetch,
      time,
      random: systemRandom,
    },
    { log: { info: log('info'), warn: log('warn'), error: log('error') } },
  );
  const thrown = await run().catch(error => String(error));
  expect([...webhooks]).toEqual([]);
  expect(JSON.stringify(lines)).not.toContain(secrets.password);
  return { lines, thrown };
};

const stored = JSON.stringify(identity);

describe('the scheduled test', () => {
  it('logs that it passed', async () => {
    const { lines, thrown } = await runOnce(stored);
    expect(thrown).toBeUndefined();
    expect(lines).toEqual([
      [
        'info',
        'smoke.passed',
        {
          deliveryId: expect.any(String),
          durationMs: expect.any(Number),
          times: expect.objectContaining({ receive: expect.any(Number) }),
        },
      ],
    ]);
  });

  it.each<[string, string | undefined, Script, string, RegExp]>([
    [
      'the queue does',
      stored,
      call => (call === 'publish' ? new Error(secrets.password) : undefined),
      'publish',
      /^Error$/,
    ],
    ['there is no parameter', undefined, () => undefined, 'identity', /^there is no client and user yet: run "smoke"/],
    [
      'the parameter is malformed',
      `{"password":"${secrets.password}"`,
      () => undefined,
      'identity',
      /^the parameter contains no client and user: .*"smoke rotate-credentials"$/,
    ],
  ])('fails if %s, logs why, and throws', async (_case, parameter, script, step, reason) => {
    const { lines, thrown } = await runOnce(parameter, script);
    expect(thrown).toBe(`Error: The smoke test failed at "${step}".`);
    expect(lines).toEqual([
      ['error', 'smoke.failed', expect.objectContaining({ step, reason: expect.stringMatching(reason) })],
    ]);
  });

  it('ends its steps in time to delete the webhook', async () => {
    const { lines } = await runOnce(stored, undefined, true);
    expect(lines).toEqual([
      ['error', 'smoke.failed', expect.objectContaining({ step: 'publish', reason: 'not done after 120 s' })],
    ]);
  });
});
