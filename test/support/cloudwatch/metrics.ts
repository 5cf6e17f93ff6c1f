import type { Series } from './metric-math.ts';

/** The samples of metrics, as CloudWatch keeps them. */
export interface Metrics {
  /** Adds a line of a function's log: what it says in the embedded metric format counts, all else is passed over. */
  addLine(line: string): void;
  /** Adds samples of AWS's own metrics. */
  add(metric: Metric, at: number, ...values: number[]): void;
  /** The statistic of a metric in periods that end at a moment, the earliest first. Milliseconds. */
  read(metric: Metric, statistic: string, period: number, periods: number, end: number): Series;
  /** All metrics so far that the functions wrote. */
  names(): readonly string[];
}

/** A metric: its namespace, its name, and its dimensions in any order. */
export interface Metric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Makes an empty store of metrics. */
export function makeMetrics(): Metrics {
  const samples = new Map<string, { readonly at: number; readonly value: number }[]>();
  return { addLine, add, read, names: () => [...samples.keys()] };

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

  function read(metric: Metric, statistic: string, period: number, periods: number, end: number): Series {
    const start = end - periods * period;
    const found: number[][] = Array.from({ length: periods }, () => []);
    for (const { at, value } of samples.get(keyOf(metric)) ?? []) found[Math.floor((at - start) / period)]?.push(value);
    return found.map(values => (values.length === 0 ? undefined : statisticOf(statistic, values)));
  }
}

/** Returns the name by which a metric is told from all others. */
function keyOf({ namespace, name, dimensions }: Metric): string {
  const sorted = Object.entries(dimensions).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return [namespace, name, ...sorted.map(([dimension, value]) => `${dimension}=${value}`)].join(' ');
}

function statisticOf(statistic: string, values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const percentile = /^p(\d+(?:\.\d)?)$/.exec(statistic)?.[1];
  if (percentile !== undefined) {
    const sorted = values.toSorted((one, other) => one - other);
    return sorted[Math.ceil((sorted.length * Number(percentile)) / 100) - 1] ?? Number.NaN;
  }
  const known: Record<string, number> = {
    Sum: sum,
    SampleCount: values.length,
    Average: sum / values.length,
    Maximum: Math.max(...values),
    Minimum: Math.min(...values),
  };
  const result = known[statistic];
  if (result === undefined) throw new Error(`This is no statistic that the tests know: ${statistic}`);
  return result;
}
