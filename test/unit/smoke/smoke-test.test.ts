import { describe, expect, it } from 'vitest';
import { runSmokeTest, type SmokeEffects } from '../../../lambdas/smoke/smoke-test.ts';
import { TestEnded, TestFinding } from '../../../lambdas/smoke/step-record.ts';
import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Behaviour, makeFakeService, type Script, secrets } from './fake-service.ts';

type Fake = ReturnType<typeof makeFakeService>;

const never = new AbortController().signal;
const run = (fake: Fake, overrides: Partial<SmokeEffects> = {}, signal = never) =>
  runSmokeTest({ ...fake.effects, ...overrides }, signal);

/** Nothing is left that the test made. */
const expectTidy = ({ webhooks, state }: Fake) => {
  expect([...webhooks.keys()]).toEqual([]);
  expect(state).toMatchObject({ sessions: 0 });
  if (state.opened > 0) expect(state.closed).toBe(1);
};

const values = Object.values(secrets).flatMap(secret => [secret, secret.replace('Bearer ', '')]);
const expectNoSecret = (...texts: readonly string[]) => {
  for (const text of texts) for (const secret of values) expect(text).not.toContain(secret);
};

const hook = 'https://receiver.example.com/smoke';
const webhook = (evento: (typeof EVENT_NAMES)[number], ageMs: number) => ({
  evento,
  url: `${hook}?run=another`,
  autorizacao: 'x',
  criado_em: new Date(Date.UTC(2026, 10, 22, 3) - ageMs).toISOString(),
  estado: 'ativo' as const,
});

describe('a smoke test', () => {
  it('passes where the service is in order, and leaves nothing behind', async () => {
    const fake = makeFakeService();
    const result = await run(fake);
    expect(result).toMatchObject({ failure: undefined, deliveryId: expect.stringMatching(/^evt_.{27}$/) });
    expect(result.steps.map(({ name, outcome, detail }) => [name, outcome, detail])).toEqual([
      ['left-overs', 'done', 'none'],
      ['client and user', 'done', 'of account _smoke'],
      ['token', 'done', 'by the password grant'],
      ['register', 'done', 'demanda.criada at receiver.example.com'],
      ['publish', 'done', result.deliveryId],
      ['receive', 'done', 'answered 200 to attempt 1 after 12 ms'],
      ['verify', 'done', 'body, Authorization and signature arrived as they should'],
      ['tidy up', 'done', 'removed the webhook, the session, the client and the user'],
    ]);
    expect(fake.shown).toEqual(result.steps.map(step => JSON.stringify(step)));
    expectTidy(fake);
    expectNoSecret(JSON.stringify(result), ...fake.shown);
  });

  it.each(EVENT_NAMES)(
    'publishes %s as the service takes it, where other tests have taken the events before',
    async eventName => {
      const fake = makeFakeService();
      const taken = EVENT_NAMES.slice(0, EVENT_NAMES.indexOf(eventName));
      for (const name of taken) fake.webhooks.set(name, webhook(name, 1_000));
      const { failure, steps } = await run(fake);
      expect(failure).toBeUndefined();
      expect(steps[3]?.detail).toBe(`${eventName} at receiver.example.com`);
      expect([...fake.webhooks.keys()]).toEqual(taken); // those of the others
    },
  );

  it('removes what a test left behind eight minutes ago, and nothing newer', async () => {
    const fake = makeFakeService();
    fake.webhooks.set('demanda.criada', webhook('demanda.criada', 480_001));
    fake.webhooks.set('demanda.cancelada', webhook('demanda.cancelada', 479_999));
    const { steps } = await run(fake);
    expect(steps[3]?.detail).toBe(
      'demanda.criada at receiver.example.com, after removing what was left over for demanda.criada',
    );
    expect([...fake.webhooks.keys()]).toEqual(['demanda.cancelada']);
  });

  it('measures what each step took, whatever happens to the clock', async () => {
    const fake = makeFakeService();
    let milliseconds = 0;
    const { steps, durationMs } = await run(fake, {
      elapsed: () => milliseconds,
      now: () => fake.effects.now() - milliseconds * 100, // it is put right meanwhile
      publish: async (body, account) => {
        await fake.effects.publish(body, account);
        milliseconds += 250.4;
      },
    });
    expect(durationMs).toBe(250);
    expect(steps.map(step => step.durationMs)).toEqual([0, 0, 0, 0, 250, 0, 0, 0]);
  });

  it('keeps a client and a user that outlive it', async () => {
    const fake = makeFakeService();
    const { close: _, ...identity } = fake.effects.identity;
    const { steps } = await run(fake, { identity });
    expect(steps.at(-1)?.detail).toBe('removed the webhook, the session');
    expect(fake.state).toMatchObject({ closed: 0, sessions: 0 });
  });

  it('knows only the status of a receiver that gives no receipts', async () => {
    const fake = makeFakeService({ behaviour: { answer: () => 'thank you' } });
    const { failure, steps } = await run(fake, { receiver: { ...fake.effects.receiver, givesReceipts: false } });
    expect(failure).toBeUndefined();
    expect(steps.at(-2)?.detail).toMatch(/no receipt: only its status is known$/);
  });
});

describe('a failure', () => {
  /** The service answers or fails so at one call. */
  const at = (wanted: string, outcome: ReturnType<Script>): { script: Script } => ({
    script: call => (call === wanted ? outcome : undefined),
  });
  const receives = (behaviour: Behaviour) => ({ behaviour });
  const receipt = (change: Record<string, string>): Behaviour => ({
    answer: found => JSON.stringify({ ...found, ...change }),
  });
  const refused = (resultado: string, status: number | null) => ({ estado: 'pendente', resultado, status });
  const broken = new TypeError(`fetch failed: ${secrets.password}`);

  const gotAnother: readonly [what: string, change: Record<string, string>, reason: RegExp][] = [
    ['another id', { id: 'evt_x' }, /got another webhook-id than/],
    ['other bytes', { body: 'x' }, /got another body than/],
    ['no key at the receiver', { authorization: 'x' }, /another Authorization/],
    ['another signature', { signature: 'v1,x' }, /another webhook-signature/],
    ['another time', { timestamp: '1' }, /webhook-signature, webhook-timestamp/],
  ];

  it.each<readonly [string, Parameters<typeof makeFakeService>[0], string, RegExp, RegExp]>([
    ['left-overs', at('removeLeftOvers', broken), 'left-overs', /^TypeError$/, /may read them$/],
    ['no client', at('open', broken), 'client and user', /^TypeError$/, /may write to them$/],
    [
      'no connection',
      at('POST /oauth/v1/token', new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })),
      'token',
      /^POST \/oauth\/v1\/token was not answered \(ECONNREFUSED\) by auth\.example\.com$/,
      /^that host/,
    ],
    [
      'a connection that fails in another way',
      at('POST /v1/webhooks', broken),
      'register',
      /^POST \/v1\/webhooks was not answered \(no connection\) by api\.example\.com$/,
      /^that host/,
    ],
    [
      'a refused login',
      at('POST /oauth/v1/token', {
        status: 401,
        body: { error: 'invalid_client', error_description: secrets.password },
      }),
      'token',
      /^POST \/oauth\/v1\/token answered 401 \(invalid_client\)$/,
      /auth\/refused tokens/,
    ],
    [
      'an answer of something else',
      at('POST /oauth/v1/token', { status: 200, body: { hello: secrets.password } }),
      'token',
      /answered 200 with another content: access_token, refresh_token$/,
      /log of the token function/,
    ],
    [
      'an error that quotes what was sent',
      at('POST /v1/webhooks', { status: 500, body: { code: `${secrets.key} was sent` } }),
      'register',
      /^POST \/v1\/webhooks answered 500$/,
      /webhooks\/refused requests/,
    ],
    [
      'a receiver that the guard refuses',
      at('POST /v1/webhooks', {
        status: 422,
        body: { code: 'validation_failed', errors: [{ pointer: '/url', code: 'url_not_public', detail: 'x' }] },
      }),
      'register',
      /answered 422 \(validation_failed, \/url url_not_public\)$/,
      /^the URL of the receiver \(that of the stage, or its smokeReceiverUrl\)/,
    ],
    ['no key', at('makeKey', new TestFinding('no key yet', 'the key')), 'register', /^no key yet$/, /^the key$/],
    [
      'no event left',
      at('POST /v1/webhooks', { status: 409 }),
      'register',
      new RegExp(`a webhook for each of the ${EVENT_NAMES.length} events`),
      /again in 8 minutes$/,
    ],
    ['no queue', at('publish', broken), 'publish', /^TypeError$/, /sqs:SendMessage/],
    [
      'a delivery that is held',
      receives({ delivery: { estado: 'retida', resultado: 'http', status: 410 } }),
      'receive',
      /^the delivery ended as retida: attempt 1 ended with http 410 after 12 ms$/,
      /^"events find evt_.{27}"/,
    ],
    [
      'a receiver that refuses',
      receives({ delivery: refused('http', 401) }),
      'receive',
      /^the receiver refuses the delivery: attempt 1 ended with http 401/,
      /events find/,
    ],
    [
      'an address that is not public',
      receives({ delivery: refused('bloqueada', null) }),
      'receive',
      /^the receiver is at an address that is not public: attempt 1 ended with bloqueada/,
      /events find/,
    ],
    ['no receipt', receives({ answer: () => '' }), 'verify', /without a receipt$/, /deliveries show/],
    ['another body', receives({ corpo: '{"event":"demanda.criada"}' }), 'verify', /another body/, /deliveries show/],
    ['a body that is none', receives({ corpo: 'x' }), 'verify', /another body/, /deliveries show/],
    ...gotAnother.map(
      ([what, change, reason]) => [what, receives(receipt(change)), 'verify', reason, /the receiver$/] as const,
    ),
  ])(
    'of %s is told with its step and what to look at, and all is tidied up',
    async (_case, world, step, reason, lookAt) => {
      const fake = makeFakeService(world);
      const result = await run(fake);
      expect(result.failure).toEqual({
        step,
        reason: expect.stringMatching(reason),
        lookAt: expect.stringMatching(lookAt),
      });
      expect(result.steps.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name)).toEqual([step]);
      expect(result.steps.at(-1)).toMatchObject({ name: 'tidy up', outcome: 'done' });
      expectTidy(fake);
      expectNoSecret(JSON.stringify(result), ...fake.shown);
    },
  );

  it('of a webhook that an operator suspended says what ends that', async () => {
    const fake = makeFakeService();
    fake.state.registersSuspended = true;
    const { failure } = await run(fake);
    expect(failure).toEqual({
      step: 'register',
      reason: 'the webhook for demanda.criada began suspended (operador)',
      lookAt: expect.stringContaining('"webhooks reactivate --account _smoke --event demanda.criada"'),
    });
    expectTidy(fake);
  });

  it('to tidy up names what is left, and keeps nothing else', async () => {
    const { webhooks, effects, state } = makeFakeService(at('DELETE /v1/webhooks/demanda.criada', { status: 503 }));
    const { failure } = await runSmokeTest(effects, never);
    expect(failure).toEqual({
      step: 'tidy up',
      reason: 'could not remove the webhook (DELETE /v1/webhooks/demanda.criada answered 503)',
      lookAt: expect.stringContaining('the next test removes what is left, 8 minutes from now'),
    });
    expect([...webhooks.keys()]).toEqual(['demanda.criada']);
    expect(state).toMatchObject({ sessions: 0, closed: 1 });
  });

  it('is not hidden by one to tidy up', async () => {
    const fake = makeFakeService({
      script: call => (call === 'publish' ? broken : call === 'POST /oauth/v1/revoke' ? { status: 500 } : undefined),
    });
    const { failure, steps } = await run(fake);
    expect(failure?.step).toBe('publish');
    expect(steps.at(-1)).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('could not remove the session'),
    });
  });
});

describe('a test that is ended', () => {
  const calls = async (): Promise<readonly string[]> => {
    const fake = makeFakeService();
    await run(fake);
    return fake.calls;
  };

  it('at any moment tidies up, also what took effect without an answer', async () => {
    const steps = (await calls()).length;
    expect(steps).toBeGreaterThan(8);
    for (let last = 1; last <= steps; last++) {
      const fake = makeFakeService();
      const ended = new AbortController();
      let made = 0;
      fake.onCall(() => {
        made += 1;
        if (made === last) ended.abort(new TestEnded('interrupted', 'nothing'));
      });
      const { failure, steps: taken } = await run(fake, {}, ended.signal);
      expect([...fake.webhooks.keys()], `after call ${last}`).toEqual([]);
      if (fake.state.opened > 0) expect(fake.state.closed, `after call ${last}`).toBe(1);
      expect(taken.at(-1), `after call ${last}`).toMatchObject({ name: 'tidy up', outcome: 'done' });
      if (failure)
        expect(failure, `after call ${last}`).toMatchObject({
          reason: expect.stringMatching(/^interrupted/),
          lookAt: 'nothing',
        });
      else expect(taken.map(({ name }) => name)).toContain('verify'); // it was over already
    }
  });

  it.each<[string, Behaviour, RegExp]>([
    ['stays in its queue', { isStuck: true }, /^not done after 60 s; no attempt is recorded: .* in the events queue$/],
    [
      'has failed so far',
      { delivery: { estado: 'pendente', resultado: 'http', status: 503 } },
      /^not done after 60 s; the delivery waits for its next attempt: attempt 1 ended with http 503 after 12 ms$/,
    ],
    [
      'is not answered',
      { delivery: { estado: 'pendente', resultado: 'tempo_esgotado', status: null } },
      /attempt 1 ended with tempo_esgotado after 12 ms$/,
    ],
    ['finds its receiver busy', { delivery: { estado: 'pendente', resultado: 'http', status: 429 } }, /http 429/],
  ])('because of its time says what became of an event that %s', async (_case, behaviour, reason) => {
    const fake = makeFakeService({ behaviour });
    const ended = new AbortController();
    let pauses = 0;
    fake.onCall(call => {
      if (call === 'pause') pauses += 1;
      if (pauses === 3) ended.abort(new TestEnded('not done after 60 s'));
    });
    const { failure } = await run(fake, {}, ended.signal);
    expect(failure).toEqual({ step: 'receive', reason: expect.stringMatching(reason), lookAt: expect.any(String) });
    expectTidy(fake);
  });

  it('waits with tidying up until what is under way is made', async () => {
    const fake = makeFakeService();
    const ended = new AbortController();
    const order: string[] = [];
    const opened = Promise.withResolvers<never>();
    let closing: Promise<void> = Promise.resolve();
    const identity = {
      open: () => {
        ended.abort(new TestEnded('interrupted'));
        setTimeout(() => {
          order.push('made');
          opened.reject(new Error('late'));
        }, 5);
        return opened.promise;
      },
      close: async () => {
        closing = opened.promise.catch(() => undefined).then(() => void order.push('removed'));
        await closing;
      },
    };
    const { failure } = await run(fake, { identity }, ended.signal);
    expect(failure?.step).toBe('client and user');
    expect(order).toEqual(['made', 'removed']);
  });
});
