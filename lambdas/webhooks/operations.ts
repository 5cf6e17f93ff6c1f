import type * as z from 'zod/mini';
import { Problem, validationFailed } from '../api/problem.ts';
import { parseJsonBody } from '../api/request-body.ts';
import { jsonResponse, noContent, type RouteHandler } from '../api/route.ts';
import { validate } from '../api/validation.ts';
import type { Clock } from '../platform/clock.ts';
import type { HttpRequest } from '../platform/http.ts';
import type { MakeId } from '../platform/identifiers.ts';
import type { Sealing } from '../platform/sealing.ts';
import { registration, replacement, secretRotation, urlIn } from './input.ts';
import { eventIn, suspendedByOperator, webhookNotFound } from './problems.ts';
import { toRecord } from './representation.ts';
import { type MakeSigningSecret, replaceSecret } from './signing-secret.ts';
import type { ValidateUrl } from './validate-url.ts';
import { authorizationBinding, type EventName, secretBinding } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';

/** What the operations are made of. */
export interface OperationDependencies {
  readonly store: WebhookStore;
  readonly sealing: Pick<Sealing, 'seal'>;
  readonly validateUrl: ValidateUrl;
  readonly makeSecret: MakeSigningSecret;
  readonly makeId: MakeId;
  readonly now: Clock;
}

/** Makes the operations on webhooks: the endpoints, without their paths and the order of their checks. */
export function makeOperations({ store, sealing, validateUrl, makeSecret, makeId, now }: OperationDependencies) {
  /** Reads a body with a `url`, and gives all findings at once, the URL's among them. */
  const readChecked = async <Schema extends z.ZodMiniType>(schema: Schema, request: HttpRequest) => {
    const body = parseJsonBody(request);
    const { value, findings } = validate(schema, body);
    const url = urlIn(body);
    const all = [...findings, ...(url === undefined ? [] : await validateUrl(url))];
    if (value === undefined || all.length > 0) throw validationFailed(all);
    return value;
  };

  const sealAuthorization = async (accountId: string, eventName: EventName, autorizacao: string | undefined) =>
    autorizacao === undefined ? undefined : sealing.seal(autorizacao, authorizationBinding(accountId, eventName));

  const register: RouteHandler = async ({ caller: { accountId }, request }) => {
    const { evento: eventName, url, autorizacao } = await readChecked(registration, request);
    const segredo = makeSecret();
    const [sealed, sealedAuthorization] = await Promise.all([
      sealing.seal(segredo, secretBinding(accountId, eventName)),
      sealAuthorization(accountId, eventName, autorizacao),
    ]);
    const moment = now();
    const webhook = {
      accountId,
      eventName,
      webhookId: makeId(22),
      url,
      sealedAuthorization,
      secrets: [{ sealed, createdAt: moment }],
      status: 'active' as const,
      suspensionReason: null,
      createdAt: moment,
      updatedAt: moment,
    };
    const registered = await store.create(webhook);
    if (!registered) {
      const detail = 'The account has a webhook for this event: replace it with PUT, or delete it first.';
      throw new Problem(409, 'webhook_exists', detail);
    }
    return jsonResponse(201, { ...toRecord(registered, moment), segredo }, { location: `/v1/webhooks/${eventName}` });
  };

  const list: RouteHandler = async ({ caller }) => {
    const webhooks = await store.list(caller.accountId);
    return jsonResponse(200, { webhooks: webhooks.map(webhook => toRecord(webhook, now())) });
  };

  const show: RouteHandler = async context => {
    const webhook = await store.find(context.caller.accountId, eventIn(context));
    if (!webhook) throw webhookNotFound();
    return jsonResponse(200, toRecord(webhook, now()));
  };

  const replace: RouteHandler = async context => {
    const { url, autorizacao } = await readChecked(replacement, context.request);
    const eventName = eventIn(context);
    const { accountId } = context.caller;
    const sealedAuthorization = await sealAuthorization(accountId, eventName, autorizacao);
    for (let attempt = 0; attempt < changeTries; attempt++) {
      const read = await store.find(accountId, eventName);
      if (!read) throw webhookNotFound();
      const webhook = await store.replace(read, { url, sealedAuthorization, updatedAt: now() });
      if (webhook) return jsonResponse(200, toRecord(webhook, now()));
    }
    throw changing();
  };

  const remove: RouteHandler = async context => {
    const removal = await store.remove(context.caller.accountId, eventIn(context), now());
    if (removal === 'not_registered') throw webhookNotFound();
    if (removal === 'contended') throw changing();
    return noContent;
  };

  const rotateSecret: RouteHandler = async context => {
    const { value, findings } = validate(secretRotation, parseJsonBody(context.request, true));
    if (value === undefined) throw validationFailed(findings);
    const eventName = eventIn(context);
    const { accountId } = context.caller;
    const segredo = makeSecret();
    const sealed = await sealing.seal(segredo, secretBinding(accountId, eventName));
    for (let attempt = 0; attempt < changeTries; attempt++) {
      const webhook = await store.find(accountId, eventName);
      if (!webhook) throw webhookNotFound();
      const moment = now();
      const replaced = replaceSecret(webhook.secrets, sealed, moment, value.imediato);
      if (replaced.outcome === 'too_many') throw tooManySecrets(replaced.until - moment);
      if (await store.replaceSecrets(webhook, replaced.secrets, moment)) return jsonResponse(201, { segredo });
    }
    throw changing();
  };

  const reactivate: RouteHandler = async context => {
    const webhook = await store.reactivate(context.caller.accountId, eventIn(context), now());
    if (!webhook) throw webhookNotFound();
    if (webhook.suspensionReason === 'operator') throw suspendedByOperator();
    return jsonResponse(200, toRecord(webhook, now()));
  };

  return { register, list, show, replace, remove, rotateSecret, reactivate } satisfies Record<string, RouteHandler>;
}

/** How often a change is tried while others change the same webhook. */
const changeTries = 3;

function changing(): Problem {
  const headers = { 'retry-after': '1' };
  return new Problem(503, 'temporarily_unavailable', 'Others are changing this webhook: try again.', { headers });
}

function tooManySecrets(milliseconds: number): Problem {
  const detail = 'Four replaced secrets still sign. Wait as long as Retry-After says, or send imediato: true.';
  const headers = { 'retry-after': String(Math.ceil(milliseconds / 1_000)) };
  return new Problem(409, 'too_many_secrets', detail, { headers });
}
