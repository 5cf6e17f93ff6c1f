import { describe, expect, it } from 'vitest';
import { runSmokeTest, SmokeError } from '../../../lambdas/smoke/smoke-test.ts';
import { makeFakeService, type Script, secrets } from './fake-service.ts';

const never = new AbortController().signal;

const expectNoSecret = (shown: unknown) => {
  for (const secret of Object.values(secrets)) expect(JSON.stringify(shown)).not.toContain(secret);
};

const allSteps = ['identity', 'token', 'clean up', 'register', 'publish', 'receive', 'delete webhook'];
const webhook = '/v1/webhooks/demanda.criada';

describe('a smoke test', () => {
  it('passes if the service works, and deletes its webhook', async () => {
    const { effects, webhooks, calls, steps } = makeFakeService();
    const result = await runSmokeTest(effects, never);
    expect(result).toEqual({
      failure: undefined,
      deliveryId: expect.stringMatching(/^evt_.{27}$/),
      durationMs: expect.any(Number),
      steps: allSteps.map(name => ({ name, durationMs: expect.any(Number) })),
    });
    expect(steps).toEqual(allSteps);
    expect(calls).toEqual([
      'identity',
      'POST /oauth/v1/token',
      `DELETE ${webhook}`,
      'POST /v1/webhooks',
      'publish',
      `GET ${webhook}/entregas/ID`,
      `DELETE ${webhook}`,
    ]);
    expect([...webhooks]).toEqual([]);
    expectNoSecret(result);
  });

  it('deletes the webhook of a test that crashed', async () => {
    const { effects, webhooks } = makeFakeService();
    webhooks.set('demanda.criada', 'https://receiver.example.com/crashed');
    expect(await runSmokeTest(effects, never)).toMatchObject({ failure: undefined });
    expect([...webhooks]).toEqual([]);
  });

  it('measures how long each step takes', async () => {
    const { effects } = makeFakeService();
    let milliseconds = 0;
    const publish: typeof effects.publish = async (...event) => {
      await effects.publish(...event);
      milliseconds += 250.4;
    };
    const { steps, durationMs } = await runSmokeTest({ ...effects, publish, elapsed: () => milliseconds }, never);
    expect(durationMs).toBe(250);
    expect(steps.map(step => step.durationMs)).toEqual([0, 0, 0, 0, 250, 0, 0]);
  });
});

describe('a failure', () => {
  const at =
    (wanted: string, outcome: ReturnType<Script>): Script =>
    call =>
      call === wanted ? outcome : undefined;
  const broken = new TypeError(`fetch failed: ${secrets.password}`);
  const refused = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  const errors = [{ pointer: '/url', code: 'url_not_public' }];

  it.each<[string, Script, string, RegExp, RegExp]>([
    ['no identity', at('identity', broken), 'identity', /^TypeError$/, /SmokeCredentialsParameter/],
    [
      'no connection',
      at('POST /oauth/v1/token', refused),
      'token',
      /^POST \/oauth\/v1\/token was not answered by auth\.example\.com \(ECONNREFUSED\)$/,
      /token function/,
    ],
    [
      'a connection that fails in another way',
      at('POST /v1/webhooks', broken),
      'register',
      /^POST \/v1\/webhooks was not answered by api\.example\.com \(no connection\)$/,
      /webhooks API/,
    ],
    [
      'a rejected login',
      at('POST /oauth/v1/token', {
        status: 401,
        body: { error: 'invalid_client', error_description: secrets.password },
      }),
      'token',
      /^POST \/oauth\/v1\/token returned 401 \(invalid_client\)$/,
      /auth\/refused tokens/,
    ],
    [
      'unexpected content',
      at('POST /oauth/v1/token', { status: 200, body: { hello: secrets.password } }),
      'token',
      /^POST \/oauth\/v1\/token returned 200 with unexpected content$/,
      /token function/,
    ],
    [
      'an error that quotes what was sent',
      at('POST /v1/webhooks', { status: 500, body: { code: `Bearer ${secrets.accessToken}` } }),
      'register',
      /^POST \/v1\/webhooks returned 500$/,
      /webhooks\/refused requests/,
    ],
    [
      'a receiver that the guard refuses',
      at('POST /v1/webhooks', { status: 422, body: { code: 'validation_failed', errors } }),
      'register',
      /^POST \/v1\/webhooks returned 422 \(validation_failed \/url url_not_public\)$/,
      /^the receiver's URL/,
    ],
    ['another test at the same time', at('POST /v1/webhooks', { status: 409 }), 'register', /returned 409$/, /URL/],
    ['no queue', at('publish', broken), 'publish', /^TypeError$/, /sqs:SendMessage/],
    [
      'a webhook that is not deleted',
      at(`DELETE ${webhook}`, { status: 503 }),
      'clean up',
      /^DELETE \/v1\/webhooks\/demanda\.criada returned 503$/,
      /webhooks API/,
    ],
  ])('of %s has its step, its reason and what to look at', async (_case, script, step, reason, lookAt) => {
    const { effects, webhooks } = makeFakeService({ script });
    const result = await runSmokeTest(effects, never);
    expect(result.failure).toEqual({
      step,
      reason: expect.stringMatching(reason),
      lookAt: expect.stringMatching(lookAt),
    });
    expect([...webhooks]).toEqual([]);
    expectNoSecret(result);
  });

  it.each([
    ['retida', { resultado: 'http', detalhe: null, status: 410 }, 'http 410'],
    ['falhou', { resultado: 'tls', detalhe: 'autoassinado', status: null }, 'tls autoassinado'],
    ['cancelada', undefined, undefined],
  ])('of a delivery that is %s ends the test at once', async (estado, attempt, outcome) => {
    const { effects, webhooks } = makeFakeService({ delivery: { estado, tentativas: attempt ? [attempt] : [] } });
    const { failure } = await runSmokeTest(effects, never);
    const ending = outcome ? `: its last attempt ended with ${outcome}` : ', and no attempt is recorded';
    expect(failure).toMatchObject({ step: 'receive', reason: `the delivery is ${estado}${ending}` });
    expect([...webhooks]).toEqual([]);
  });

  it('to delete the webhook at the end is reported, and hides no earlier one', async () => {
    let deletions = 0;
    const failing: Script = call => (call === `DELETE ${webhook}` && deletions++ > 1 ? { status: 503 } : undefined);
    const { effects, webhooks } = makeFakeService({ script: failing });
    const { failure } = await runSmokeTest(effects, never);
    expect(failure).toMatchObject({ step: 'delete webhook', lookAt: expect.stringContaining('the next test deletes') });
    expect([...webhooks.keys()]).toEqual(['demanda.criada']);
    deletions = 0;
    const both = makeFakeService({ script: call => (call === 'publish' ? broken : failing(call)) });
    expect((await runSmokeTest(both.effects, never)).failure?.step).toBe('publish');
  });
});

describe('a test that is ended', () => {
  it('at any call deletes its webhook, even if registering it was not answered', async () => {
    const whole = makeFakeService();
    await runSmokeTest(whole.effects, never);
    const beforeDeletion = whole.calls.length - 1;
    for (let last = 1; last <= beforeDeletion; last++) {
      const { effects, webhooks, onCall } = makeFakeService();
      const end = new AbortController();
      let made = 0;
      onCall(() => {
        made += 1;
        if (made === last) end.abort(new SmokeError('interrupted'));
      });
      const { failure } = await runSmokeTest(effects, end.signal);
      expect(failure?.reason, `after call ${last}`).toContain('interrupted');
      expect([...webhooks], `after call ${last}`).toEqual([]);
    }
  });

  it('does not wait for a call that hangs', async () => {
    const { effects, webhooks, onCall } = makeFakeService();
    const end = new AbortController();
    onCall(call => {
      if (call === 'publish') end.abort(new SmokeError('interrupted'));
    });
    const publish: typeof effects.publish = async (...event) => {
      await effects.publish(...event);
      await new Promise(() => undefined);
    };
    const { failure } = await runSmokeTest({ ...effects, publish }, end.signal);
    expect(failure).toMatchObject({ step: 'publish', reason: 'interrupted' });
    expect([...webhooks]).toEqual([]);
  });

  it.each([
    ['stays in its queue', null, 'no attempt is recorded: the message may still be in the events queue'],
    [
      'has failed so far',
      { estado: 'pendente', tentativas: [{ resultado: 'http', detalhe: null, status: 503 }] },
      'the delivery is pendente: its last attempt ended with http 503',
    ],
  ])('says what is known of an event that %s', async (_case, delivery, state) => {
    const { effects, webhooks, onCall } = makeFakeService({ delivery });
    const end = new AbortController();
    let pauses = 0;
    onCall(call => {
      if (call === 'pause') pauses += 1;
      if (pauses === 3) end.abort(new SmokeError('not done after 60 s'));
    });
    const { failure } = await runSmokeTest(effects, end.signal);
    expect(failure).toMatchObject({ step: 'receive', reason: `not done after 60 s; ${state}` });
    expect([...webhooks]).toEqual([]);
  });
});
