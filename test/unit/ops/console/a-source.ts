import type { LetterView } from '../../../../ops/console/operator/dead-letters.ts';
import { startView } from '../../../../ops/console/operator/start.ts';
import type { Context } from '../../../../ops/console/page.ts';
import type { OperatorSource, Source } from '../../../../ops/console/source.ts';
import { type Language, sayingIn, textsOf } from '../../../../ops/console/texts.ts';
import type { DeliveryView, WebhookView } from '../../../../ops/console/views.ts';
import { aStatus } from '../a-status.ts';

/** The requests that a source got, in order. */
export const done: string[] = [];

/** Text that would run, or break out of its place, if any page took it as markup. */
export const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`;

/** A webhook whose texts are hostile. */
const webhook = aWebhookView({
  address: `https://receiver.example.com/${hostile}`,
  reason: hostile,
  failingSince: '2026-11-22T10:00:00.000Z',
  updatedAt: '2026-11-21T10:00:00.000Z',
});

/** A delivery whose receiver answered with markup. */
export const delivery: DeliveryView = {
  id: 'evt_0123456789abcdefghijklmnopq',
  account: 'acme',
  event: 'demanda.criada',
  state: 'falhou',
  createdAt: '2026-11-22T10:00:00.000Z',
  nextAttemptAt: null,
  attempts: 1,
  lastResult: 'http',
  lastStatus: 503,
  made: [
    {
      ...{ number: 1, startedAt: '2026-11-22T10:00:01.000Z', durationMs: 31 },
      ...{ result: 'http', detail: null, status: 503, answer: hostile },
    },
  ],
};

/** Returns a source in memory: an operator's, or an integrator's. */
export function aSource(changes: Partial<Source> = {}): Source {
  return {
    label: 'stage test',
    refreshSeconds: 5,
    mayChange: true,
    listWebhooks: async () => [webhook],
    findWebhook: async () => webhook,
    listDeliveries: async () => ({ deliveries: [delivery], next: null }),
    latestDeliveries: async () => ({ deliveries: [delivery], next: null, timed: [delivery] }),
    tally: async () => ({ counts: { delivered: [1], failed: [1], open: [0] }, reached: undefined }),
    countMatching: async () => ({ count: 1, isCutOff: false }),
    findDelivery: async ({ id }) => (id === delivery.id ? delivery : undefined),
    readBody: async () => `{"event":"${hostile}"}`,
    test: async (account, event) => {
      done.push(`test ${account} ${event}`);
      return delivery.id;
    },
    resend: async ({ id }) => void done.push(`resend ${id}`),
    replay: async ({ state, since, until }) => {
      done.push(`replay ${state} ${since} ${until}`);
      return 'reenvio_0123456789012345678901';
    },
    findReplay: async () => undefined,
    cancelReplay: async (_, id) => void done.push(`cancel ${id}`),
    reactivate: async (account, event) => void done.push(`reactivate ${account} ${event}`),
    operator,
    ...changes,
  };
}

/** Returns a source without what operators have: that of the integrator of account acme. */
export function integratorOf({ operator: _, ...source }: Source): Source {
  return { ...source, account: 'acme' };
}

/** Returns a webhook that nothing is wrong with, but for changes. */
export function aWebhookView(changes: Partial<WebhookView> = {}): WebhookView {
  return {
    ...{ account: 'acme', event: 'demanda.criada', address: 'receiver.example.com', hasAuthorization: true },
    ...{ status: 'ativo', reason: null, failingSince: null, slowSince: null },
    ...{ createdAt: '2026-11-20T10:00:00.000Z', updatedAt: '2026-11-20T10:00:00.000Z' },
    ...changes,
  };
}

/** Returns what a page is made from: a source, at a path. */
export function aContext(
  source: Source,
  path: string,
  language: Language = 'en',
  now = Date.UTC(2026, 10, 23),
): Context {
  return {
    source,
    language,
    texts: textsOf(language),
    say: sayingIn(language),
    folder: '/x',
    path,
    query: new URL(path, 'http://127.0.0.1').searchParams,
    now,
  };
}

/** A letter whose texts are hostile. */
export const letter: LetterView = {
  id: '7188c438-242b-4126-be1f-200fdcb81d89',
  sentAt: '2026-11-22T10:00:00.000Z',
  reason: 'unknown_event',
  detail: hostile,
  sender: hostile,
  copies: 1,
  account: hostile,
  event: hostile,
};

const webhookName = { account: 'acme', event: 'demanda.criada' } as const;

const refusal = { kind: 'refused', messageId: hostile, reason: hostile, detail: hostile } as const;

/** A status whose texts are hostile. */
const status = aStatus({
  ...{ target: 'stage test', stage: 'test', region: null, account: null },
  kmsKey: { arn: hostile, state: hostile, deletedAt: null },
  recipients: [{ mail: 'page', address: hostile, state: 'not confirmed' }],
  queues: [{ queue: hostile, waiting: 1, inFlight: 0, delayed: 0, oldestSeconds: null }],
  alarms: { total: 1, isCutOff: false, ringing: [{ name: hostile, since: null, description: hostile }] },
  webhooks: {
    read: 1,
    isCutOff: false,
    suspended: [],
    failing: [{ ...webhookName, since: '2026-11-22T10:00:00.000Z' }],
  },
  deliveries: { unread: hostile },
  keys: [{ kind: 'signing', keys: 1, activeSince: null, nextMadeAt: null, nextActiveFrom: null }],
  problems: [{ kind: 'stack', name: hostile, state: hostile, isUnwanted: false, sentence: hostile }],
});

/** What operators see, in memory. */
export const operator: OperatorSource = {
  suspend: async (account, event) => void done.push(`suspend ${account} ${event}`),
  readStart: async () =>
    startView(
      status,
      { hours: ['2026-11-22T10:00:00.000Z'], delivered: [1], failed: [0], held: [0], isCutOff: false },
      '2026-11-22T10:00:00.000Z',
    ),
  listEvents: async () => ({
    ...{ since: '2026-11-22T10:00:00.000Z', logSince: '2026-11-22T10:00:00.000Z' },
    ...{ looked: 1, isCutOff: false, found: 1, queued: undefined },
    events: [
      {
        ...{ at: '2026-11-22T10:00:00.000Z', event: hostile, deliveryId: hostile, messageId: hostile },
        ...{ fate: 'refused', cause: refusal },
      },
    ],
  }),
  listLetters: async () => ({ letters: [letter], inFlight: 0, at: '2026-11-22T10:00:00.000Z', isCutOff: false }),
  readLetter: async () => hostile,
  startRedrive: async ids => done.push(`redrive ${ids.join(' ')}`) > 0,
  readRedrive: async () => undefined,
  cancelRedrive: async () => void done.push('cancel redrive'),
  endRedrive: async () => {},
  discard: async ids => {
    done.push(`discard ${ids.join(' ')}`);
    return { discarded: ids.length, missing: [], inFlight: 0 };
  },
  findEvent: async () => ({ verdict: 'refused', cause: refusal, delivery: undefined, searchedSince: undefined }),
  sandbox: {
    demo: {
      account: 'acme',
      login: async () => ({
        authUrl: 'http://127.0.0.1:4000',
        baseUrl: 'http://127.0.0.1:4001',
        clientId: 'client',
        clientSecret: 'secret',
        username: 'admin@example.com',
        password: 'password',
      }),
      queue: async () => ({ endpoint: 'http://127.0.0.1:4003', url: 'http://127.0.0.1:4003/0/events' }),
      claims: async () => ({ sub: hostile }),
      logIn: async () => void done.push('log in'),
      register: async (event, url) => `whsec_${done.push(`register ${event} ${url}`)}`,
    },
    list: async () => ({
      count: 1,
      received: [
        {
          at: '2026-11-22T10:00:00.000Z',
          method: 'POST',
          path: hostile,
          headers: { 'x-strange': hostile },
          account: 'acme',
          event: hostile,
          id: hostile,
          status: 200,
          verdict: 'verified',
          body: hostile,
        },
      ],
    }),
    clear: async () => void done.push('clear'),
    publish: async event => void done.push(`publish ${event}`),
  },
};
