import type { Clock } from '../../lambdas/platform/clock.ts';
import type { operatorDeadLetters } from './operator/dead-letters.ts';
import type { operatorEvents } from './operator/events.ts';
import type { makeSandbox } from './operator/sandbox.ts';
import type { operatorStart } from './operator/start.ts';
import type { OperatorWebhooks } from './operator/webhooks.ts';
import type {
  AccountView,
  Claims,
  Count,
  DeliveryPage,
  DeliveryQuery,
  DeliveryReference,
  DeliveryView,
  LatestDeliveries,
  ReplayRange,
  ReplayView,
  Tally,
  TallySpan,
  WebhookReference,
  WebhookSettings,
  WebhookView,
} from './views.ts';

/**
 * What pages are made of, and what they do: an operator's by the commands of the command line, an integrator's by the public API.
 */
export interface Source {
  /** The name of what is shown: `stage dev`, or the host of the API; `null` for the local run, which has none. */
  readonly label: string | null;
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
  /** The first page of all deliveries, and as many with the times of their attempts as can be read at little cost. */
  latestDeliveries(query: DeliveryQuery): Promise<LatestDeliveries>;
  /** Counts deliveries by time, the latest first, as far as 24 calls reach. */
  tally(span: TallySpan): Promise<Tally>;
  /** Counts what a replay would send, as far as eight calls reach. */
  countMatching(range: ReplayRange): Promise<Count>;
  findDelivery(reference: DeliveryReference): Promise<DeliveryView | undefined>;
  /** The JSON text that is sent. An operator's look at it is audited. */
  readBody(reference: DeliveryReference): Promise<string>;
  resend(reference: DeliveryReference): Promise<void>;
  /** Begins a replay. Returns its id. */
  replay(range: ReplayRange): Promise<string>;
  /** Finds the replay of a webhook by its id; without one the latest, where the source knows it. */
  findReplay(webhook: WebhookReference, id?: string): Promise<ReplayView | undefined>;
  cancelReplay(webhook: WebhookReference, id: string): Promise<void>;
  reactivate(account: string, event: string): Promise<void>;
  /** Sends a test. Returns the id of its delivery. */
  test(account: string, event: string): Promise<string>;
  /** The webhooks of an integrator's account with what came for it and had none, in one call. */
  readAccount?(): Promise<AccountView>;
  /** Registers a webhook. Returns its signing secret, which can be read nowhere again. Operators register nothing on a stage. */
  register?(settings: WebhookSettings): Promise<string>;
  /** Replaces the URL and the authorization of a webhook: without one the former is removed. */
  change?(settings: WebhookSettings): Promise<void>;
  /** Makes a new signing secret and returns it. Those before it sign for a day more, or with `isImmediate` no longer. */
  rotate?(account: string, event: string, isImmediate: boolean): Promise<string>;
  remove?(account: string, event: string): Promise<void>;
  /** The login of an integrator: where it is good, and what its token says. */
  readonly login?: {
    readonly authUrl: string;
    readonly baseUrl: string;
    readonly claims: () => Promise<Claims>;
  };
  /** The rest is there for operators only. */
  readonly operator?: OperatorSource;
}

/** The parts that only operators see and use. */
export type OperatorSource = Pick<OperatorWebhooks, 'suspend'> &
  ReturnType<typeof operatorStart> &
  ReturnType<typeof operatorEvents> &
  ReturnType<typeof operatorDeadLetters> & {
    /** The receiver of the local run. */
    readonly sandbox?: SandboxSource;
  };

/** The built-in receiver of a local run. */
export type SandboxSource = ReturnType<typeof makeSandbox>;
