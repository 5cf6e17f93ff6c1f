import type { Happening, VirtualCloud } from '@emissor/cloud/virtual';
import type { FaultClass } from './fault-classes.ts';
import type { Violation } from './invariants/violation.ts';

export const kinds = ['delivery', 'tokens'] as const;

export type Kind = (typeof kinds)[number];

/** A world, by what makes it: the same three make the same world. */
export interface WorldName {
  readonly kind: Kind;
  readonly seed: number;
  readonly faultClass: FaultClass;
}

export interface WorldResult extends WorldName {
  /** The same for the same world. */
  readonly digest: string;
  /** Events that came, or requests. */
  readonly asked: number;
  /** POSTs that were made, or answers with 200. */
  readonly done: number;
  readonly deaths: number;
  /** Milliseconds that something was late at most, as the judge saw it; 0 where nothing can be late. */
  readonly worstLateness: number;
  /** Seconds of this thread's processor time. */
  readonly cpu: number;
  readonly violations: readonly Violation[];
  /** Returns what happened to a delivery, a request or a session, and which processes died meanwhile. */
  readonly trace: (about: string) => readonly Happening[];
}

/** Returns what is told of each world that has ended. `usageBefore`: what this thread had used when it began. */
export function figuresOf(
  cloud: VirtualCloud,
  usageBefore: NodeJS.CpuUsage,
): Pick<WorldResult, 'digest' | 'deaths' | 'cpu'> {
  const { user, system } = process.threadCpuUsage(usageBefore);
  return { digest: cloud.digest(), deaths: cloud.trace(isDeath).length, cpu: (user + system) / 1e6 };
}

/** Returns whether a process dies of something. */
export function isDeath({ kind, text }: Happening): boolean {
  return kind === 'process' && text.includes(' dies: ');
}
