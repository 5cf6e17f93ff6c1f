import type { Happening, VirtualCloud } from '@emissor/cloud/virtual';
import type { FaultClass } from './fault-classes.ts';
import type { Violation } from './invariants/violation.ts';

export const kinds = ['delivery', 'tokens'] as const;

export type Kind = (typeof kinds)[number];

/** The identity of a world. The same three values always produce the same world. */
export interface WorldName {
  readonly kind: Kind;
  readonly seed: number;
  readonly faultClass: FaultClass;
}

export interface WorldResult extends WorldName {
  /** The hash of all events, which is the same for the same world. */
  readonly digest: string;
  /** The number of events or requests that arrived. */
  readonly asked: number;
  /** The number of POSTs, or of responses with 200. */
  readonly done: number;
  readonly deaths: number;
  /** The maximum delay in milliseconds that the judge saw. It is 0 for worlds of tokens. */
  readonly worstLateness: number;
  /** The CPU time of this thread in seconds. */
  readonly cpu: number;
  readonly violations: readonly Violation[];
  /** Returns the history of a delivery, a request or a session, and the deaths of processes meanwhile. */
  readonly trace: (about: string) => readonly Happening[];
}

/** Returns the figures of a world that has ended. `usageBefore` is this thread's CPU usage at its start. */
export function figuresOf(
  cloud: VirtualCloud,
  usageBefore: NodeJS.CpuUsage,
): Pick<WorldResult, 'digest' | 'deaths' | 'cpu'> {
  const { user, system } = process.threadCpuUsage(usageBefore);
  return { digest: cloud.digest(), deaths: cloud.trace(isDeath).length, cpu: (user + system) / 1e6 };
}

/** Returns whether a process dies of a happening. */
export function isDeath({ kind, text }: Happening): boolean {
  return kind === 'process' && text.includes(' dies: ');
}
