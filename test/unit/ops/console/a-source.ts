import type { Source } from '../../../../ops/console/api-source.ts';
import type { Context } from '../../../../ops/console/page.ts';
import { type Language, sayingIn, textsOf } from '../../../../ops/console/texts.ts';
import type { DeliveryView, WebhookSettings, WebhookView } from '../../../../ops/console/views.ts';

/** The requests that a source got, in order. */
export const done: string[] = [];

/** Text that would run, or break out of its place, if any page took it as markup. */
export const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`;

/** A webhook whose texts are hostile. */
const webhook = aWebhookView({
  url: `https://receiver.example.com/${hostile}`,
  reason: hostile,
  failingSince: '2026-11-22T10:00:00.000Z',
  updatedAt: '2026-11-21T10:00:00.000Z',
});

/** A delivery whose receiver answered with markup. */
export const delivery: DeliveryView = {
  id: 'evt_0123456789abcdefghijklmnopq',
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
  body: `{"event":"${hostile}"}`,
};

/** A signing secret, which only the answer to a registration or a rotation shows. */
export const secret = 'whsec_shown-once';

/** Returns a source in memory, of account acme. */
export function aSource(changes: Partial<Source> = {}): Source {
  return {
    account: 'acme',
    host: 'api.example.com',
    mayChange: true,
    refreshSeconds: 5,
    login: {
      authUrl: 'https://auth.example.com',
      baseUrl: 'https://api.example.com',
      claims: async () => ({ account_id: 'acme', scope: hostile }),
    },
    readAccount: async () => ({ webhooks: [webhook], withoutWebhook: [] }),
    findWebhook: async () => webhook,
    listDeliveries: async () => ({ deliveries: [delivery], next: null }),
    latestDeliveries: async () => ({ deliveries: [delivery], next: null, timed: [delivery] }),
    tally: async () => ({ counts: { delivered: [1], failed: [1], open: [0] }, reached: undefined }),
    countMatching: async () => ({ count: 1, isCutOff: false }),
    findDelivery: async ({ id }) => (id === delivery.id ? delivery : undefined),
    test: async event => {
      done.push(`test ${event}`);
      return delivery.id;
    },
    resend: async ({ id }) => void done.push(`resend ${id}`),
    replay: async ({ state, since, until }) => {
      done.push(`replay ${state} ${since} ${until}`);
      return 'reenvio_0123456789012345678901';
    },
    findReplay: async () => undefined,
    cancelReplay: async (_, id) => void done.push(`cancel ${id}`),
    reactivate: async event => void done.push(`reactivate ${event}`),
    register: async settings => {
      done.push(`register ${seen(settings)}`);
      return secret;
    },
    change: async settings => void done.push(`change ${seen(settings)}`),
    rotate: async (event, isImmediate) => {
      done.push(`rotate ${event} ${isImmediate}`);
      return secret;
    },
    remove: async event => void done.push(`remove ${event}`),
    ...changes,
  };
}

function seen({ event, url, authorization }: WebhookSettings): string {
  return `${event} ${url} ${authorization ?? 'none'}`;
}

/** Returns a webhook that nothing is wrong with, but for changes. */
export function aWebhookView(changes: Partial<WebhookView> = {}): WebhookView {
  return {
    ...{ event: 'demanda.criada', url: 'https://receiver.example.com/hooks', hasAuthorization: true },
    ...{ status: 'ativo', reason: null, failingSince: null, slowSince: null },
    ...{ createdAt: '2026-11-20T10:00:00.000Z', updatedAt: '2026-11-20T10:00:00.000Z', formerSecretsUntil: [] },
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
