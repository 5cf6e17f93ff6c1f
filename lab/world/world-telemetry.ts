import type { ProcessRuntime } from '@emissor/cloud/virtual';
import { makeLog } from '../../lambdas/platform/log.ts';

/** The telemetry of a virtual process, as the product's compositions require it. */
export type WorldTelemetry = ReturnType<Metrics['telemetryOf']>;

/** The metrics of all functions in a world. */
type Metrics = ReturnType<typeof makeMetrics>;

/** A value of a metric. */
interface Measurement {
  /** The virtual time of the measurement. */
  readonly at: number;
  /** The function that recorded the value. */
  readonly service: string;
  readonly metric: string;
  readonly value: number;
}

/** Creates the store of all measurements. It keeps the measurements of crashed processes. */
export function makeMetrics(now: () => number) {
  const measurements: Measurement[] = [];
  return { telemetryOf, all: () => measurements, sum };

  /** Creates the telemetry of a process. The log uses the clock of the process. */
  function telemetryOf(service: string, { time }: Pick<ProcessRuntime, 'time'>) {
    const add = (metric: string, value: number) => {
      measurements.push({ at: now(), service, metric, value });
    };
    return { ...makeLog(service, time.now), count: (metric: string, by = 1) => add(metric, by), measure: add };
  }

  /** Returns the sum of a metric over all functions. */
  function sum(metric: string): number {
    return measurements.reduce((total, one) => total + (one.metric === metric ? one.value : 0), 0);
  }
}
