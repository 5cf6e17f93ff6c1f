import type * as z from 'zod';
import type { Principal } from '../auth/bearer.ts';
import type { Clock } from '../platform/clock.ts';
import type { HttpRequest, HttpResponse } from '../platform/http.ts';
import type { MakeId } from '../platform/identifiers.ts';
import type { Sealing } from '../platform/sealing.ts';
import { readJson } from './json-body.ts';
import { Problem, validationFailed, webhookNotFound } from './problem.ts';
import { type MakeSigningSecret, replaceSecret } from './signing-secret.ts';
import type { CheckUrl } from './url-check.ts';
import { authorizationBinding, type EventName, isEventName, secretBinding, toRecord } from './webhook.ts';
import { readBody, registration, replacement, secretRotation, urlIn } from './webhook-input.ts';
import type { WebhookStore } from './webhook-store.ts';

/** An admitted request. */
interface Call {
  readonly caller: Principal;
  readonly request: HttpRequest;
  /** The event as the path names it, decoded; empty for the collection. Any text: it may name no event. */
  readonly evento: string;
}

/** Does what a method and path stand for. @throws {Problem} for what the caller can mend. */
export type Operation = (call: Call) => Promise<HttpResponse>;

/** What the operations stand on. */
export interface OperationDependencies {
  readonly store: WebhookStore;
  readonly sealing: Pick<Sealing, 'seal'>;
  readonly checkUrl: CheckUrl;
  readonly makeSecret: MakeSigningSecret;
  readonly makeId: MakeId;
  readonly now: Clock;
}

/** How often a rotation is tried while others rotate the same secret. */
const rotationTries = 3;

const answer = (statusCode: number, body: object, headers: Record<string, string> = {}): HttpResponse => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(body),
});

const eventIn = ({ evento }: Call): EventName => {
  if (!isEventName(evento)) throw webhookNotFound();
  return evento;
};

/** Makes the operations on webhooks: the endpoints, without their paths and the order of their checks. */
export const makeOperations = ({ store, sealing, checkUrl, makeSecret, makeId, now }: OperationDependencies) => {
  /** Reads a body with a `url`, and gives all findings at once, the URL's among them. */
  const readChecked = async <Schema extends z.ZodType>(schema: Schema, request: HttpRequest) => {
    const body = readJson(request);
    const { value, findings } = readBody(schema, body);
    const url = urlIn(body);
    const all = [...findings, ...(url === undefined ? [] : await checkUrl(url))];
    if (value === undefined || all.length > 0) throw validationFailed(all);
    return value;
  };

  const sealAuthorization = async (accountId: string, evento: EventName, autorizacao: string | undefined) =>
    autorizacao === undefined ? undefined : sealing.seal(autorizacao, authorizationBinding(accountId, evento));

  const register: Operation = async ({ caller: { accountId }, request }) => {
    const { evento, url, autorizacao } = await readChecked(registration, request);
    const segredo = makeSecret();
    const [sealed, sealedAuthorization] = await Promise.all([
      sealing.seal(segredo, secretBinding(accountId, evento)),
      sealAuthorization(accountId, evento, autorizacao),
    ]);
    const moment = now();
    const webhook = {
      accountId,
      evento,
      webhookId: makeId(22),
      url,
      sealedAuthorization,
      secrets: [{ sealed, createdAt: moment }],
      status: 'ativo' as const,
      suspensionReason: null,
      createdAt: moment,
      updatedAt: moment,
    };
    if (!(await store.create(webhook))) {
      const detail = 'The account has a webhook for this event: replace it with PUT, or delete it first.';
      throw new Problem(409, 'webhook_exists', detail);
    }
    return answer(201, { ...toRecord(webhook), segredo }, { location: `/v1/webhooks/${evento}` });
  };

  const list: Operation = async ({ caller }) => {
    const webhooks = await store.list(caller.accountId);
    return answer(200, { webhooks: webhooks.map(toRecord) });
  };

  const show: Operation = async call => {
    const webhook = await store.find(call.caller.accountId, eventIn(call));
    if (!webhook) throw webhookNotFound();
    return answer(200, toRecord(webhook));
  };

  const replace: Operation = async call => {
    const { url, autorizacao } = await readChecked(replacement, call.request);
    const evento = eventIn(call);
    const { accountId } = call.caller;
    const sealedAuthorization = await sealAuthorization(accountId, evento, autorizacao);
    const webhook = await store.replace(accountId, evento, { url, sealedAuthorization, updatedAt: now() });
    if (!webhook) throw webhookNotFound();
    return answer(200, toRecord(webhook));
  };

  const remove: Operation = async call => {
    if (!(await store.remove(call.caller.accountId, eventIn(call)))) throw webhookNotFound();
    return { statusCode: 204, headers: { 'cache-control': 'no-store' } };
  };

  const rotateSecret: Operation = async call => {
    const { value, findings } = readBody(secretRotation, readJson(call.request, true));
    if (value === undefined) throw validationFailed(findings);
    const evento = eventIn(call);
    const { accountId } = call.caller;
    const segredo = makeSecret();
    const sealed = await sealing.seal(segredo, secretBinding(accountId, evento));
    for (let attempt = 0; attempt < rotationTries; attempt++) {
      const webhook = await store.find(accountId, evento);
      if (!webhook) throw webhookNotFound();
      const moment = now();
      const secrets = replaceSecret(webhook.secrets, sealed, moment, value.imediato);
      if (!secrets) {
        const detail = 'Four replaced secrets still sign. Wait for 24 h after the oldest, or send imediato: true.';
        throw new Problem(409, 'too_many_secrets', detail);
      }
      if (await store.replaceSecrets(webhook, secrets, moment)) return answer(201, { segredo });
    }
    throw new Problem(503, 'temporarily_unavailable', 'Others are changing this secret: try again.', {
      headers: { 'retry-after': '1' },
    });
  };

  const reactivate: Operation = async call => {
    const webhook = await store.reactivate(call.caller.accountId, eventIn(call), now());
    if (!webhook) throw webhookNotFound();
    if (webhook.suspensionReason === 'operador') {
      throw new Problem(
        409,
        'suspended_by_operator',
        'An operator suspended this webhook: only an operator ends that.',
      );
    }
    return answer(200, toRecord(webhook));
  };

  return { register, list, show, replace, remove, rotateSecret, reactivate } satisfies Record<string, Operation>;
};
