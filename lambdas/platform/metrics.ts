import type { Clock } from './clock.ts';

/**
 * Creates the metrics of a function in CloudWatch's embedded metric format. The namespace is `METRICS_NAMESPACE`.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function makeMetrics(service: string, now: Clock) {
  const namespace = process.env.METRICS_NAMESPACE;
  const pending = new Map<string, Metric>();
  return { add, flush, countNow };

  /** Adds a value with the dimension `service`. The next `flush` writes it. */
  function add(name: string, unit: Metric['unit'], value: number): void {
    const metric = pending.get(name) ?? { unit, values: [] };
    pending.set(name, metric);
    metric.values.push(value);
    if (metric.values.length === maxValues) flush();
  }

  function flush(): void {
    if (pending.size === 0) return;
    write([{ service }], pending);
    pending.clear();
  }

  /** Writes a metric with the value 1, once for each set of dimensions. */
  function countNow(name: string, ...dimensions: readonly Dimensions[]): void {
    write(dimensions, new Map([[name, { unit: 'Count', values: [1] }]]));
  }

  function write(dimensions: readonly Dimensions[], metrics: ReadonlyMap<string, Metric>): void {
    const directive = {
      Namespace: namespace,
      Dimensions: dimensions.map(set => Object.keys(set)),
      Metrics: Array.from(metrics, ([Name, { unit }]) => ({ Name, Unit: unit })),
    };
    const line = { _aws: { Timestamp: now(), CloudWatchMetrics: [directive] } };
    const values = Array.from(metrics, ([name, { values }]) => ({ [name]: values.length === 1 ? values[0] : values }));
    process.stdout.write(`${JSON.stringify(Object.assign(line, ...dimensions, ...values))}\n`);
  }
}

interface Metric {
  readonly unit: 'Count' | 'Milliseconds';
  readonly values: number[];
}

type Dimensions = Readonly<Record<string, string>>;

/** The maximum number of values that a line may contain for a metric. */
const maxValues = 100;
