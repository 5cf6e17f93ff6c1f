import type { WireState } from '../../lambdas/delivery/representation.ts';

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
}

/** A delivery as lists show it. */
export interface DeliveryRow {
  readonly id: string;
  readonly account: string;
  readonly event: string;
  readonly state: string;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly attempts: number;
  readonly lastResult: string | null;
  readonly lastStatus: number | null;
}

/** A delivery with its latest attempts. */
export interface DeliveryView extends DeliveryRow {
  readonly made: readonly AttemptView[];
}

/** An attempt, and what the receiver answered. */
export interface AttemptView {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: string;
  readonly status: number | null;
  readonly answer: string | null;
}

/** The choice of the deliveries of one webhook; times as they were typed, RFC 3339. */
export interface DeliveryQuery {
  readonly account: string;
  readonly event: string;
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
}

export interface DeliveryReference {
  readonly account: string;
  readonly event: string;
  readonly id: string;
}

/** The deliveries that are sent again together. */
export interface ReplayRange {
  readonly account: string;
  readonly event: string;
  readonly state: 'falhou' | 'retida';
  readonly since: string;
  readonly until: string;
}

/** A refusal that the person can act on. Its message is shown as it is. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
