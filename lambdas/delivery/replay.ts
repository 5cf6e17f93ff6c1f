import type { EventName } from '../webhooks/webhook.ts';
import { type Delivery, isTest } from './delivery.ts';

/** Wire states of a replay; the last two are final. */
type ReplayState = 'em_andamento' | 'concluido' | 'cancelado';

/** What is asked for: deliveries in a state, by when their events were accepted. Milliseconds, both ends included. */
interface ReplayRange {
  readonly from: number;
  readonly to: number;
  readonly wanted: 'falhou' | 'retida';
}

/**
 * A replay: the deliveries of a range begin new schedules, ten a second, newest first. First they are counted, then sent.
 * Times in milliseconds since the epoch; places are range keys of index `byWebhook`, which never change.
 */
export interface Replay extends ReplayRange {
  /** `reenvio_…` */
  readonly id: string;
  readonly accountId: string;
  readonly evento: EventName;
  /** The registration it was asked for: it ends with that. */
  readonly webhookId: string;
  readonly state: ReplayState;
  /** What reached its state later than this is not sent: nothing is sent twice, and the range cannot grow. */
  readonly startedAt: number;
  /** Deliveries of this registration counted so far. */
  readonly total: number;
  /** The place that counting has come to; `null` when all are counted. */
  readonly countedTo: string | null;
  /** Deliveries sent so far. */
  readonly sent: number;
  /** The place that sending has come to. */
  readonly sentTo: string;
  /** When the next delivery may leave. */
  readonly paceAt: number;
  /** Grows each time somebody takes the replay in hand: whoever did so before is then out. */
  readonly claim: number;
  /** When the sweeper takes it in hand. */
  readonly lookAt: number;
}

/** What remains of a replay when the next one of its webhook has begun. */
export type PastReplay = Pick<Replay, 'id' | 'state' | 'total' | 'sent' | 'countedTo'>;

/** Whether a replay has sent a delivery already. */
export const wasSentBy = (replay: Replay, { replayId }: Delivery): boolean => replayId === replay.id;

/** Whether a delivery is one that the replay is to send. It may be another registration's: then it is to cancel it. */
export const isWantedBy = (replay: Replay, delivery: Delivery): boolean =>
  delivery.state === replay.wanted &&
  delivery.createdAt >= replay.from &&
  delivery.createdAt <= replay.to &&
  (delivery.settledAt ?? Number.POSITIVE_INFINITY) < replay.startedAt &&
  !wasSentBy(replay, delivery) &&
  !isTest(delivery);
