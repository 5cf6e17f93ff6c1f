import { parseEventMessage } from '../../../lambdas/delivery/intake/event.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';
import type { SmokeEffects } from '../../../lambdas/smoke/smoke-test.ts';

/** The client and the user of a test. Each secret contains "canary", which must never appear in output. */
export const identity = {
  clientId: 'client',
  clientSecret: 'canary-client-secret',
  username: 'test@smoke.invalid',
  password: 'canary-password',
};

/** Returns the outcome that replaces the usual outcome of a call (`METHOD /path`, `identity` or `publish`). */
export type Script = (call: string) => { status: number; body?: unknown } | Error | undefined;

interface FakeService {
  readonly script?: Script;
  /** The delivery after its first attempt, or `null` if the message remains in its queue. */
  readonly delivery?: { readonly estado: string; readonly tentativas: readonly object[] } | null;
  /** Called after a call takes effect and before it returns. */
  readonly onCall?: (call: string) => void;
}

/** Creates an in-memory service and the effects of a smoke test that uses it. */
export function makeFakeService({
  script = () => undefined,
  delivery = { estado: 'entregue', tentativas: [] },
  onCall = () => undefined,
}: FakeService = {}) {
  const webhooks = new Map<string, string>();
  const deliveries = new Map<string, object>();
  const [calls, steps]: [string[], string[]] = [[], []];

  function perform<Value>(call: string, act: () => Value): Value {
    calls.push(call);
    const scripted = script(call);
    if (scripted instanceof Error) throw scripted;
    const value = act();
    onCall(call);
    return value;
  }

  function respond(call: string, path: string, sent: unknown): Response {
    const scripted = script(call);
    if (scripted && 'status' in scripted) return reply(scripted.status, scripted.body);
    if (call === 'POST /oauth/v1/token') return reply(200, { access_token: 'canary-access-token' });
    if (call.startsWith('GET ')) return deliveries.has(path) ? reply(200, deliveries.get(path)) : reply(404);
    if (call.startsWith('DELETE ')) return reply(webhooks.delete(path.split('/').at(-1) ?? '') ? 204 : 404);
    const { evento, url }: { evento: string; url: string } = JSON.parse(String(sent));
    if (webhooks.has(evento)) return reply(409, { code: 'webhook_exists' });
    webhooks.set(evento, url);
    return reply(201);
  }

  const effects: SmokeEffects = {
    ...systemTime,
    authUrl: 'https://auth.example.com',
    baseUrl: 'https://api.example.com',
    receiverUrl: 'https://receiver.example.com/smoke',
    fetch: async (url, { method, body, signal }) => {
      signal?.throwIfAborted();
      const { pathname } = new URL(url);
      const call = `${method} ${pathname.replace(/evt_.*/, 'ID')}`;
      const response = perform(call, () => respond(call, pathname, body));
      signal?.throwIfAborted();
      return response;
    },
    readIdentity: async () => perform('identity', () => identity),
    publish: async message =>
      perform('publish', () => {
        const parsed = parseEventMessage(message, 'message-id', 'https://demandas.example.com');
        if (parsed.outcome !== 'event' || !delivery || !webhooks.has(parsed.event.eventName)) return;
        const { eventName, deliveryId } = parsed.event;
        deliveries.set(`/v1/webhooks/${eventName}/entregas/${deliveryId}`, delivery);
      }),
    describeError: error => (error instanceof Error ? error.name : 'unknown'),
    onStep: ({ name }) => void steps.push(name),
    makeId: length => 'r'.repeat(length),
    pause: async (_milliseconds, signal) => {
      onCall('pause');
      signal?.throwIfAborted();
    },
  };
  return { effects, webhooks, calls, steps };
}

function reply(status: number, body: unknown = {}): Response {
  return new Response(status === 204 ? null : JSON.stringify(body), { status });
}
