import type { ProcessOutside } from '@emissor/cloud/virtual';
import { makeLog } from '../../lambdas/platform/log.ts';

/** The log and the metrics of a virtual process, as the product's compositions take them. */
export type WorldTelemetry = ReturnType<Metrics['telemetryOf']>;

/** What the functions of a world measured. */
type Metrics = ReturnType<typeof makeMetrics>;

/** A value of a metric. */
interface Measured {
  /** The virtual moment. */
  readonly at: number;
  /** The function that measured it. */
  readonly service: string;
  readonly metric: string;
  readonly value: number;
}

/** Makes the place where all functions measure. A process that dies has told what it measured before: that is one place less to forgive. */
export function makeMetrics(now: () => number) {
  const measured: Measured[] = [];
  return { telemetryOf, all: () => measured, sum };

  /** Makes the telemetry of a process: its log has the process's clock. */
  function telemetryOf(service: string, { time }: Pick<ProcessOutside, 'time'>) {
    const add = (metric: string, value: number) => {
      measured.push({ at: now(), service, metric, value });
    };
    return { ...makeLog(service, time.now), count: (metric: string, by = 1) => add(metric, by), measure: add };
  }

  /** Returns the sum of a metric over all functions. */
  function sum(metric: string): number {
    return measured.reduce((total, one) => total + (one.metric === metric ? one.value : 0), 0);
  }
}
