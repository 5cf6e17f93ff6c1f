import type { KeyKind } from '../../lambdas/platform/keyring.ts';
import type { QueueDepth } from './queues.ts';
import type { AlarmsView } from './watch.ts';

/** What is deployed, and how it does. A part that could not be read says why: the others are there all the same. */
export interface Status {
  readonly target: string;
  readonly stage: string | null;
  readonly region: string | null;
  readonly account: string | null;
  /** The version of this checkout. */
  readonly checkout: string;
  /** `null` for a local run, and for an outputs file, which tell of none. */
  readonly stacks: readonly StackView[] | null;
  readonly tables: Part<readonly TableView[]>;
  readonly queues: Part<readonly QueueView[]>;
  readonly alarms: Part<AlarmsView>;
  readonly webhooks: Part<WebhooksView>;
  readonly keys: Part<readonly KeysView[]>;
  /** What needs somebody, with what to do, in sentences. */
  readonly problems: readonly string[];
}

/** A part of the status, or why it could not be read. */
export type Part<Value> = Value | Unread;

/** Why a part of the status is missing. */
export interface Unread {
  readonly unread: string;
}

/** One stack. */
export interface StackView {
  readonly name: string;
  /** Its state in CloudFormation; `null` where it is missing. */
  readonly state: string | null;
  readonly version: string | null;
  readonly updatedAt: string | null;
  readonly terminationProtection: boolean;
}

/** One table. */
export interface TableView {
  readonly name: string;
  readonly deletionProtection: boolean;
}

/** One queue. */
export interface QueueView extends QueueDepth {
  readonly queue: string;
  /** The age of the oldest message; `null` where there is none, or it is not known. */
  readonly oldestSeconds: number | null;
}

/** The webhooks that are suspended or failing. */
export interface WebhooksView {
  readonly read: number;
  readonly isCutOff: boolean;
  readonly suspended: readonly SuspendedView[];
  readonly failing: readonly FailingView[];
}

/** A suspended webhook, or a suspension of the next one to be registered. */
interface SuspendedView {
  readonly account: string;
  readonly event: string;
  readonly reason: string | null;
  readonly since: string | null;
}

/** A webhook whose attempts have failed since then. */
interface FailingView {
  readonly account: string;
  readonly event: string;
  readonly since: string | null;
}

/** The keys of one kind, and when the next one is due. */
export interface KeysView {
  readonly kind: KeyKind;
  /** How many there are. */
  readonly keys: number;
  readonly activeSince: string | null;
  /** When the daily rotation makes the next key; `null` once it is made. */
  readonly nextMadeAt: string | null;
  /** When the next key will be in use. */
  readonly nextActiveFrom: string | null;
}

/** Whether a part could not be read. */
export function isUnread(part: unknown): part is Unread {
  return typeof part === 'object' && part !== null && 'unread' in part;
}
