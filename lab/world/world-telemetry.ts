import type { ProcessRuntime } from '@emissor/cloud/virtual';
import { makeLog } from '../../lambdas/platform/log.ts';

/** The log and the metrics of a virtual process, as the product's compositions require them. */
export type WorldTelemetry = ReturnType<Metrics['telemetryOf']>;

/** The measurements of a world's functions. */
type Metrics = ReturnType<typeof makeMetrics>;

/** A value of a metric. */
interface Measured {
  /** The virtual time of the measurement. */
  readonly at: number;
  /** The function that measured it. */
  readonly service: string;
  readonly metric: string;
  readonly value: number;
}

/** Creates the store of all measurements. Measurements of a dead process remain, so judges need one exception less. */
export function makeMetrics(now: () => number) {
  const measured: Measured[] = [];
  return { telemetryOf, all: () => measured, sum };

  /** Creates the telemetry of a process. Its log uses the clock of the process. */
  function telemetryOf(service: string, { time }: Pick<ProcessRuntime, 'time'>) {
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
