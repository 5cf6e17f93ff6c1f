import type { WireState } from '../../lambdas/delivery/representation.ts';
import type { AttemptRecord, DeliveryRecord } from './api-answers.ts';

// What pages show and ask for. Times are RFC 3339 in UTC; states, results and reasons are the words of the wire.

export interface WebhookView {
  readonly account: string;
  readonly event: string;
  /** Its URL; an operator sees the host alone. */
  readonly address: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly failingSince: string | null;
  readonly slowSince: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly hasAuthorization: boolean;
  /** Until when each replaced signing secret still signs; an operator does not see them. */
  readonly formerSecretsUntil?: readonly string[];
}

/** An integrator's account: its webhooks, and the events that came lately and have none. */
export interface AccountView {
  readonly webhooks: readonly WebhookView[];
  readonly withoutWebhook: readonly { readonly event: string; readonly lastAt: string }[];
}

/** What the owner of a webhook decides. */
export interface WebhookSettings extends WebhookReference {
  readonly url: string;
  /** The header `Authorization` of deliveries. It is never read back. */
  readonly authorization?: string | undefined;
}

/** What a token says, by the names of RFC 9068. */
export type Claims = Readonly<Record<string, unknown>>;

/** A delivery as lists show it. */
export type DeliveryRow = ReturnType<typeof deliveryRow>;

/** A delivery with its latest attempts. */
export interface DeliveryView extends DeliveryRow {
  readonly made: readonly AttemptView[];
}

/** An attempt, and what the receiver answered. */
export type AttemptView = ReturnType<typeof attemptView>;

interface WebhookReference {
  readonly account: string;
  readonly event: string;
}

/** The choice of the deliveries of one webhook; times as they were typed, RFC 3339. */
export interface DeliveryQuery extends WebhookReference {
  readonly state?: WireState | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A page of deliveries, the newest first, and where the next one begins. */
export interface DeliveryPage<Row = DeliveryRow> {
  readonly deliveries: readonly Row[];
  readonly next: string | null;
  /** Of how many the attempts could not be read, and why: these have none here. */
  readonly unread?: { readonly count: number; readonly why: string } | undefined;
}

export interface DeliveryReference extends WebhookReference {
  readonly id: string;
}

/** The deliveries that are sent again together. */
export interface ReplayRange extends WebhookReference {
  readonly state: 'falhou' | 'retida';
  readonly since: string;
  readonly until: string;
}

/** A refusal that the person can act on. Its message is shown as it is. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** What is wrong with each part of what was sent, by its name on the wire. The message says it too. */
  readonly findings: Readonly<Record<string, string>>;

  constructor(message: string, findings: Readonly<Record<string, string>> = {}) {
    super(message);
    this.findings = findings;
  }
}

/** A refusal of what is not there, or no longer. */
export class NotThere extends Refusal {}

/** Returns a delivery of the wire as pages list it. */
export function deliveryRow({ account, event }: WebhookReference, record: DeliveryRecord) {
  return {
    id: record.id,
    account,
    event,
    state: record.estado,
    createdAt: record.criado_em,
    nextAttemptAt: record.proxima_tentativa_em,
    attempts: record.tentativas,
    lastResult: record.ultimo_resultado,
    lastStatus: record.ultimo_status,
  };
}

/** Returns an attempt of the wire as pages show it. */
export function attemptView(record: AttemptRecord) {
  return {
    number: record.numero,
    startedAt: record.iniciada_em,
    durationMs: record.duracao_ms,
    result: record.resultado,
    status: record.status,
    answer: record.resposta,
  };
}
