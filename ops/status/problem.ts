import type { StackProblem } from '../deployment/stack-states.ts';
import type { LateGroup } from './late-deliveries.ts';

/** Something that needs somebody: what it is, and the sentence with what to do that the terminal says of it. */
export type Problem = Found & { readonly sentence: string };

/** Each kind of problem, with the values that are said of it. */
type Found =
  | { readonly kind: 'versions in use again' | 'shifting' | 'rolled back'; readonly functions: readonly string[] }
  | { readonly kind: 'not deployed' | 'deployed in part'; readonly stacks: readonly string[] }
  | ({ readonly kind: 'stack' } & StackProblem)
  | { readonly kind: 'different versions'; readonly found: readonly Group[] }
  | { readonly kind: 'unprotected'; readonly stacks: number; readonly tables: number }
  | { readonly kind: 'alarms'; readonly count: number; readonly since: string | null }
  | { readonly kind: 'KMS key'; readonly state: string; readonly deletedAt: string | null }
  | { readonly kind: 'throttled'; readonly place: string; readonly calls: 'reads' | 'writes'; readonly count: number }
  | { readonly kind: 'certificate'; readonly host: string; readonly state: string; readonly endsAt: string | null }
  | { readonly kind: 'unreached'; readonly mail: 'page' | 'ticket'; readonly addresses: readonly string[] }
  | { readonly kind: 'late'; readonly group: LateGroup }
  | { readonly kind: 'more late'; readonly count: number }
  | Ended
  | Backlog
  | { readonly kind: 'dead letters'; readonly count: number }
  | { readonly kind: 'failing' | 'suspended'; readonly count: number; readonly first: Troubled }
  | { readonly kind: 'users being deleted'; readonly count: number; readonly since: string }
  | { readonly kind: 'no key' | 'late key'; readonly key: string; readonly since: string | null };

/** The stacks that have a version, or a release. */
interface Group {
  readonly value: string;
  readonly stacks: readonly string[];
}

/** A queue that is behind. */
interface Backlog {
  readonly kind: 'backlog';
  readonly queue: string;
  readonly waiting: number;
  readonly inFlight: number;
  readonly oldestSeconds: number | null;
}

/** Deliveries that ended, and the webhook that has most of them. */
interface Ended {
  readonly kind: 'failed' | 'held';
  readonly count: number;
  /** True where there may be more. */
  readonly isCutOff: boolean;
  readonly most: { readonly account: string; readonly event: string; readonly count: number };
}

/** A webhook, and since when it is as it is, where that is known. */
export interface Troubled {
  readonly account: string;
  readonly event: string;
  readonly since?: string;
  /** The wire's word for why it is suspended. */
  readonly reason?: string | null;
}
