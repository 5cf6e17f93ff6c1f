import type { WireState } from '../../lambdas/delivery/representation.ts';
import type { AttemptRecord, DeliveryRecord } from './api-answers.ts';

// What pages show and ask for. Times are RFC 3339 in UTC; states, results and reasons are the words of the wire.

export interface WebhookView {
  readonly event: string;
  readonly url: string;
  readonly status: string;
  readonly reason: string | null;
  readonly failingSince: string | null;
  readonly slowSince: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly hasAuthorization: boolean;
  /** Until when each replaced signing secret still signs. */
  readonly formerSecretsUntil: readonly string[];
}

/** The webhooks of the account, and the events that came lately and have none. */
export interface AccountView {
  readonly webhooks: readonly WebhookView[];
  readonly withoutWebhook: readonly { readonly event: string; readonly lastAt: string }[];
}

/** What the owner of a webhook decides. */
export interface WebhookSettings {
  readonly event: string;
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
  /** The body as it is signed. */
  readonly body: string;
}

/** An attempt, and what the receiver answered. */
export type AttemptView = ReturnType<typeof attemptView>;

/** The choice of the deliveries of one webhook; times as they were typed, RFC 3339. */
export interface DeliveryQuery {
  readonly event: string;
  readonly state?: WireState | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A page of deliveries, the newest first, and where the next one begins. */
export interface DeliveryPage {
  readonly deliveries: readonly DeliveryRow[];
  readonly next: string | null;
}

/** The first page of all deliveries, and the latest ones that were read with the times of their attempts. */
export interface LatestDeliveries extends DeliveryPage {
  readonly timed: readonly DeliveryView[];
  /** The failure of one that could not be read. */
  readonly unread?: unknown;
}

/** The deliveries to count by the time at which their events were accepted, in steps. Milliseconds since the epoch. */
export interface TallySpan {
  readonly event: string;
  readonly from: number;
  /** A whole number of steps after `from`. */
  readonly until: number;
  readonly step: number;
}

/** The numbers of deliveries in each step of a span, the oldest first. */
export interface Tally {
  readonly counts: Readonly<Record<TallyGroup, readonly number[]>>;
  /** Back to then they were counted, where that is not the whole span. */
  readonly reached: number | undefined;
  /** The failure that ended the count there; nothing where its calls were used up. */
  readonly unread?: unknown;
}

/** `open`: what waits, is held, or was cancelled. */
export type TallyGroup = 'delivered' | 'failed' | 'open';

/** A number of deliveries, or the least that it is. */
export interface Count {
  readonly count: number;
  readonly isCutOff: boolean;
}

/** A replay, as far as it has come. */
export interface ReplayView {
  readonly id: string;
  readonly isRunning: boolean;
  /** The word of the wire. */
  readonly state: string;
  readonly sent: number;
}

export interface DeliveryReference {
  readonly event: string;
  readonly id: string;
}

/** The deliveries that are sent again together. */
export interface ReplayRange {
  readonly event: string;
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
export function deliveryRow(event: string, record: DeliveryRecord) {
  return {
    id: record.id,
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
    detail: record.detalhe,
    status: record.status,
    answer: record.resposta,
  };
}

/** Returns a time in milliseconds since the epoch. */
export function momentOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

/** Counts moments by the step of a span that each is in. */
export function countBySteps(
  { from, until, step }: Pick<TallySpan, 'from' | 'until' | 'step'>,
  times: readonly number[],
) {
  const counts = Array.from({ length: Math.round((until - from) / step) }, () => 0);
  for (const time of times) {
    const at = Math.floor((time - from) / step);
    if (counts[at] !== undefined) counts[at] += 1;
  }
  return counts;
}
