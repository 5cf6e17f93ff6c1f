import { describe, expect, it } from 'vitest';
import { runSmokeTest, SmokeError } from '../../../lambdas/smoke/smoke-test.ts';
import { makeFakeService, type Script } from './fake-service.ts';

// Tests that a smoke test logs in, registers a webhook, receives an event and always deletes the webhook.

const never = new AbortController().signal;

const [login, register, deletion] = [
  'POST /oauth/v1/token',
  'POST /v1/webhooks',
  'DELETE /v1/webhooks/demanda.criada',
] as const;

describe('a smoke test', () => {
  it('passes if the service works, measures the duration of its steps and deletes its webhook', async () => {
    let elapsed = 0;
    const { effects, webhooks, calls, steps } = makeFakeService({
      onCall: call => {
        if (call === 'publish') elapsed += 250.4;
      },
    });
    const result = await runSmokeTest({ ...effects, elapsed: () => elapsed }, never);
    const allSteps = ['identity', 'token', 'clean up', 'register', 'publish', 'receive', 'delete webhook'];
    expect(result).toEqual({
      failure: undefined,
      deliveryId: expect.stringMatching(/^evt_.{27}$/),
      durationMs: 250,
      steps: allSteps.map(name => ({ name, durationMs: name === 'publish' ? 250 : 0 })),
    });
    expect(steps).toEqual(allSteps);
    const receive = 'GET /v1/webhooks/demanda.criada/entregas/ID';
    expect(calls).toEqual(['identity', login, deletion, register, 'publish', receive, deletion]);
    expect([...webhooks]).toEqual([]);
    expect(JSON.stringify(result)).not.toContain('canary');
  });

  it('deletes the webhook of a test that crashed', async () => {
    const { effects, webhooks } = makeFakeService();
    webhooks.set('demanda.criada', 'https://receiver.example.com/crashed');
    expect(await runSmokeTest(effects, never)).toMatchObject({ failure: undefined });
    expect([...webhooks]).toEqual([]);
  });
});

describe('a failure', () => {
  const broken = new TypeError('fetch failed: canary');
  const connectionRefused = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  const invalidClient = { error: 'invalid_client', error_description: 'canary' };
  const validationError = { code: 'validation_failed', errors: [{ pointer: '/url', code: 'url_not_public' }] };

  const steps: Readonly<Record<string, string>> = {
    identity: 'identity',
    publish: 'publish',
    [login]: 'token',
    [register]: 'register',
  };
  it.each<[string, ReturnType<Script>, string, string]>([
    ['identity', broken, 'TypeError', 'SmokeCredentialsParameter'],
    ['publish', broken, 'TypeError', 'sqs:SendMessage'],
    [login, connectionRefused, 'got no response from auth.example.com (ECONNREFUSED)', 'the token function'],
    [register, broken, 'got no response from api.example.com (no connection)', 'the webhooks API'],
    [login, { status: 401, body: invalidClient }, 'returned 401 (invalid_client)', 'auth/refused tokens'],
    [login, { status: 200, body: { a: 'canary' } }, 'returned 200 with unexpected content', 'auth/internal errors'],
    [register, { status: 500, body: { code: 'Bearer canary' } }, 'returned 500', 'webhooks/refused requests'],
    [
      register,
      { status: 422, body: validationError },
      'returned 422 (validation_failed /url url_not_public)',
      "receiver's",
    ],
    [deletion, { status: 503 }, 'returned 503', 'the webhooks API'],
  ])('at %s is reported with its step, its reason and a hint: %j', async (call, outcome, reason, hint) => {
    const { effects, webhooks } = makeFakeService({ script: current => (current === call ? outcome : undefined) });
    const result = await runSmokeTest(effects, never);
    expect(result.failure).toEqual({
      step: steps[call] ?? 'clean up',
      reason: reason === 'TypeError' ? reason : `${call} ${reason}`,
      hint: expect.stringContaining(hint),
    });
    expect([...webhooks]).toEqual([]);
    expect(JSON.stringify(result)).not.toContain('canary');
  });

  const attempted = (estado: string, resultado: string, detalhe: string | null, status: number | null) => ({
    ...{ estado, tentativas: [{ resultado, detalhe, status }] },
  });
  it.each([
    [attempted('retida', 'http', null, 410), 'the delivery is retida: its last attempt ended with http 410'],
    [attempted('falhou', 'tls', 'proprio', null), 'the delivery is falhou: its last attempt ended with tls proprio'],
    [{ estado: 'cancelada', tentativas: [] }, 'the delivery is cancelada, and no attempt is recorded'],
    [attempted('pendente', 'http', null, 503), 'late; the delivery is pendente: its last attempt ended with http 503'],
    [null, 'late; no attempt is recorded: the message may still be in the events queue'],
  ])('to receive the event is reported, without waiting if the delivery has ended: %j', async (delivery, reason) => {
    const end = new AbortController();
    let pauses = 0;
    const onCall = (call: string) => {
      if (call === 'pause') pauses += 1;
      if (pauses === 3) end.abort(new SmokeError('late'));
    };
    const { effects, webhooks } = makeFakeService({ delivery, onCall });
    const { failure } = await runSmokeTest(effects, end.signal);
    expect(failure).toMatchObject({ step: 'receive', reason });
    expect([...webhooks]).toEqual([]);
  });

  it('to delete the webhook at the end is reported unless another step has failed', async () => {
    let deletions = 0;
    const failing: Script = call => (call === deletion && deletions++ > 1 ? { status: 503 } : undefined);
    const { effects, webhooks } = makeFakeService({ script: failing });
    const { failure } = await runSmokeTest(effects, never);
    expect(failure).toMatchObject({ step: 'delete webhook', hint: expect.stringContaining('the next test deletes') });
    expect([...webhooks.keys()]).toEqual(['demanda.criada']);
    deletions = 0;
    const both = makeFakeService({ script: call => (call === 'publish' ? broken : failing(call)) });
    expect((await runSmokeTest(both.effects, never)).failure?.step).toBe('publish');
  });
});

it('a test that is interrupted during any call deletes its webhook, even if the registration received no response', async () => {
  const uninterrupted = makeFakeService();
  await runSmokeTest(uninterrupted.effects, never);
  const beforeDeletion = uninterrupted.calls.length - 1;
  for (let last = 1; last <= beforeDeletion; last++) {
    const end = new AbortController();
    let callCount = 0;
    const onCall = () => {
      callCount += 1;
      if (callCount === last) end.abort(new SmokeError('interrupted'));
    };
    const { effects, webhooks } = makeFakeService({ onCall });
    const { failure } = await runSmokeTest(effects, end.signal);
    expect(failure?.reason, `after call ${last}`).toContain('interrupted');
    expect([...webhooks], `after call ${last}`).toEqual([]);
  }
});
