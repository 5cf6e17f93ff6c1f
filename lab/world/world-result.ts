import type { RecordedEvent, VirtualCloud } from '@emissor/cloud/virtual';
import type { FaultClass } from './fault-classes.ts';
import type { Violation } from './invariants/violation.ts';

export const kinds = ['delivery', 'tokens'] as const;

export type Kind = (typeof kinds)[number];

/** The identity of a world. The same values always produce the same world. */
export interface WorldName {
  readonly kind: Kind;
  readonly seed: number;
  readonly faultClass: FaultClass;
}

export interface WorldResult extends WorldName {
  /** The hash of the world's trace. Two runs of the same world have the same hash. */
  readonly digest: string;
  /** The number of published messages, or of requests in a token world. */
  readonly requestCount: number;
  /** The number of POSTs, or of responses with status 200 in a token world. */
  readonly successCount: number;
  readonly crashes: number;
  /** The maximum delay of a delivery after its due time, in milliseconds. Always 0 in token worlds. */
  readonly maxOverdueMs: number;
  /** The CPU time of this thread in seconds. */
  readonly cpu: number;
  readonly violations: readonly Violation[];
  /** Returns the history of a delivery, a request or a session, plus all process crashes. */
  readonly trace: (subjectId: string) => readonly RecordedEvent[];
}

/** Returns the figures of a world that has ended. `usageBefore` is the thread's CPU usage at the start of the world. */
export function figuresOf(
  cloud: VirtualCloud,
  usageBefore: NodeJS.CpuUsage,
): Pick<WorldResult, 'digest' | 'crashes' | 'cpu'> {
  const { user, system } = process.threadCpuUsage(usageBefore);
  return { digest: cloud.digest(), crashes: cloud.trace(isCrash).length, cpu: (user + system) / 1e6 };
}

/** Returns whether a trace entry records a process crash. */
export function isCrash({ kind, text }: RecordedEvent): boolean {
  return kind === 'process' && text.includes(' dies: ');
}
