import type { WireState } from '../../lambdas/delivery/representation.ts';
import type { Clock } from '../../lambdas/platform/clock.ts';

/**
 * What pages are made of, and what they do: an operator's by the actions of the command line, an integrator's by the public API.
 * Times are RFC 3339 in UTC; states, results and reasons are the words of the wire.
 */
export interface Source {
  /** The name of what is shown: `stage dev`, or the host of the API. */
  readonly label: string;
  /** Seconds after which a page that is looked at renews itself. */
  readonly refreshSeconds: number;
  /** False where the credentials may only read. */
  readonly mayChange: boolean;
  /** The only account that there is to see, for an integrator. */
  readonly account?: string;
  /** Says a failure in one sentence, with what to do. By default its own message is shown. */
  readonly describeFailure?: (error: unknown) => string;
  /** The time of what is shown; by default the machine's. */
  readonly now?: Clock;
  listWebhooks(account: string): Promise<readonly WebhookView[]>;
  findWebhook(account: string, event: string): Promise<WebhookView | undefined>;
  listDeliveries(query: DeliveryQuery): Promise<DeliveryPage>;
  /** The first page of all deliveries, as many as can be read with the times of their attempts at little cost. */
  latestDeliveries(account: string, event: string): Promise<DeliveryPage<DeliveryView>>;
  findDelivery(reference: DeliveryReference): Promise<DeliveryView | undefined>;
  /** The JSON text that is sent. An operator's look at it is audited. */
  readBody(reference: DeliveryReference): Promise<string>;
  resend(reference: DeliveryReference): Promise<void>;
  replay(range: ReplayRange): Promise<void>;
  reactivate(account: string, event: string): Promise<void>;
  /** Sends a test event. */
  test(account: string, event: string): Promise<void>;
  /** The rest is there for operators only. */
  readonly operator?: OperatorSource;
}

/** The parts that only operators see and use. */
export interface OperatorSource {
  suspend(account: string, event: string): Promise<void>;
  readStart(): Promise<StartView>;
  listEvents(account: string): Promise<EventsView>;
  listLetters(): Promise<LettersView>;
  /** The letter, or how many others are looking at: it may be among them. */
  findLetter(id: string): Promise<{ readonly letter: LetterView | undefined; readonly inFlight: number }>;
  redrive(): Promise<{ readonly moved: number; readonly kept: number }>;
  discard(ids: readonly string[]): Promise<number>;
  findEvent(wanted: FindQuery): Promise<FoundView>;
  findRequest(id: string): Promise<readonly LogLine[]>;
  /** The receiver of the local run. */
  readonly sandbox?: SandboxSource;
}

/** The built-in receiver of a local run. */
export interface SandboxSource {
  readonly account: string;
  list(): Promise<readonly ReceivedView[]>;
  clear(): Promise<void>;
  publish(event: string): Promise<void>;
}

/** A webhook. */
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

/** One delivery of one webhook. */
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

/** The things that need somebody, and the state of the others. */
export interface StartView {
  readonly problems: readonly string[];
  readonly queues: readonly {
    readonly name: string;
    readonly waiting: number;
    readonly inFlight: number;
    readonly delayed: number;
  }[];
  readonly webhooks: readonly {
    readonly account: string;
    readonly event: string;
    readonly what: string;
    readonly since: string | null;
  }[];
  readonly alarms: readonly { readonly name: string; readonly since: string | null; readonly description: string }[];
  readonly keys: readonly {
    readonly kind: string;
    readonly keys: number;
    readonly activeSince: string | null;
    readonly nextMadeAt: string | null;
  }[];
  /** Parts that could not be read, and why. */
  readonly unread: readonly string[];
}

/** The events that came for an account, the newest first. */
export interface EventsView {
  readonly since: string;
  readonly events: readonly {
    readonly at: string;
    readonly event: string;
    readonly id: string;
    readonly fate: string;
    readonly why: string;
  }[];
}

/** Dead letters, and how many more are in other hands. */
interface LettersView {
  readonly letters: readonly LetterView[];
  readonly inFlight: number;
}

/** A message that the service could not process. */
export interface LetterView {
  readonly id: string;
  readonly sentAt: string | null;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly sender: string | null;
}

/** The choice of an event: any id, or what its publisher knows of it. */
export interface FindQuery {
  readonly id: string;
  readonly account?: string | undefined;
  readonly event?: string | undefined;
}

/** The verdict on an event, and the reason. */
interface FoundView {
  readonly verdict: string;
  readonly why: string;
  readonly delivery?: DeliveryReference | undefined;
  readonly searchedSince?: string | undefined;
}

/** A line of a log. */
interface LogLine {
  readonly at: string;
  readonly text: string;
}

/** A request that the built-in receiver got. */
export interface ReceivedView {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly event: string | null;
  readonly id: string | null;
  readonly status: number;
  /** The verdict on its signature, with the reason where it is not that of the webhook. */
  readonly signature: string;
  readonly body: string;
}

/** A refusal that the person can act on. Its message is shown as it is. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
