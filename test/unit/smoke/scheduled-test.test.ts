import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../lambdas/platform/random.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import { composeScheduledTest } from '../../../lambdas/smoke/scheduled-test.composition.ts';
import { identity, makeFakeService, type Script } from './fake-service.ts';

const runOnce = async (parameter: string | undefined, script: Script = () => undefined, isHanging = false) => {
  const { effects, webhooks } = makeFakeService({ script });
  const lines: unknown[] = [];
  const log = (level: string) => (message: string, fields?: object) => void lines.push([level, message, fields]);
  let end = () => {};
  const after = (milliseconds: number, callback: () => void) => {
    if (milliseconds === 120_000) end = callback;
    return () => undefined;
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
      time: { ...systemTime, after },
      random: systemRandom,
    },
    { log: { info: log('info'), warn: log('warn'), error: log('error') } },
  );
  const thrown = await run().catch(error => String(error));
  expect([...webhooks]).toEqual([]);
  expect(JSON.stringify(lines)).not.toContain('canary');
  return { lines, thrown };
};

const stored = JSON.stringify(identity);

describe('the scheduled test', () => {
  it('logs its success', async () => {
    const { lines, thrown } = await runOnce(stored);
    expect(thrown).toBeUndefined();
    const times = expect.objectContaining({ receive: expect.any(Number) });
    const fields = { deliveryId: expect.any(String), durationMs: expect.any(Number), times };
    expect(lines).toEqual([['info', 'smoke.passed', fields]]);
  });

  const noQueue: Script = call => (call === 'publish' ? new Error('canary') : undefined);
  it.each([
    ['the queue fails', stored, noQueue, false, 'publish', /^Error$/],
    ['there is no parameter', undefined, undefined, false, 'identity', /^no client and user exist yet. Run "smoke"/],
    ['its time limit is exceeded', stored, undefined, true, 'publish', /^timed out after 120 s$/],
  ])('logs the reason and throws if %s', async (_case, parameter, script, isHanging, step, reason) => {
    const { lines, thrown } = await runOnce(parameter, script, isHanging);
    expect(thrown).toBe(`Error: The smoke test failed at "${step}".`);
    const fields = expect.objectContaining({ step, reason: expect.stringMatching(reason) });
    expect(lines).toEqual([['error', 'smoke.failed', fields]]);
  });
});
