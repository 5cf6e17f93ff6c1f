/** The values of a metric, period by period; `undefined` if a period has none. */
export type Series = readonly (number | undefined)[];

/** The samples of metrics, as CloudWatch keeps them. */
export type Metrics = ReturnType<typeof makeMetrics>;

/** A metric: its namespace, its name, and its dimensions in any order. */
export interface Metric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Creates an empty store of metrics. */
export function makeMetrics() {
  const samples = new Map<string, { readonly at: number; readonly value: number }[]>();
  return { addLine, add, read, /** Returns all metrics so far. */ names: () => [...samples.keys()] };

  /** Adds a line of a function's log if it has the embedded metric format. */
  function addLine(line: string): void {
    const fields = line.startsWith('{') ? JSON.parse(line) : {};
    for (const { Namespace: namespace, Dimensions, Metrics } of fields._aws?.CloudWatchMetrics ?? []) {
      for (const names of Dimensions as string[][]) {
        const dimensions = Object.fromEntries(names.map(name => [name, fields[name]]));
        for (const { Name: name } of Metrics as { Name: string }[])
          add({ namespace, name, dimensions }, fields._aws.Timestamp, ...[fields[name]].flat());
      }
    }
  }

  function add(metric: Metric, at: number, ...values: number[]): void {
    const known = samples.get(keyOf(metric)) ?? [];
    for (const value of values) known.push({ at, value });
    samples.set(keyOf(metric), known);
  }

  /** Returns the statistic of a metric in periods that end at a moment, the earliest first. Times are in milliseconds. */
  function read(metric: Metric, statistic: string, period: number, periods: number, end: number): Series {
    const start = end - periods * period;
    const found: number[][] = Array.from({ length: periods }, () => []);
    for (const { at, value } of samples.get(keyOf(metric)) ?? []) found[Math.floor((at - start) / period)]?.push(value);
    return found.map(values => (values.length === 0 ? undefined : statisticOf(statistic, values)));
  }
}

/** Returns the unique name of a metric. */
function keyOf({ namespace, name, dimensions }: Metric): string {
  const sorted = Object.entries(dimensions).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return [namespace, name, ...sorted.map(([dimension, value]) => `${dimension}=${value}`)].join(' ');
}

function statisticOf(statistic: string, values: readonly number[]): number {
  if (statistic === 'Sum') return values.reduce((total, value) => total + value, 0);
  if (statistic === 'SampleCount') return values.length;
  if (statistic === 'Maximum') return Math.max(...values);
  if (statistic === 'Minimum') return Math.min(...values);
  throw new Error(`The tests do not know the statistic ${statistic}.`);
}
