/** The values of a metric by period. A period without values is `undefined`. */
type Series = readonly (number | undefined)[];

/** A metric. The order of its dimensions is not relevant. */
interface Metric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** A store for metric samples, like CloudWatch. */
export type Metrics = ReturnType<typeof makeMetrics>;

/** Creates an empty store of metrics. */
export function makeMetrics() {
  const samples = new Map<string, { readonly at: number; readonly value: number }[]>();
  return { addLine, add, read, /** Returns the names of all metrics. */ names: () => [...samples.keys()] };

  /** Adds the samples from a log line in the embedded metric format. Ignores other lines. */
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
    const existing = samples.get(keyOf(metric)) ?? [];
    for (const value of values) existing.push({ at, value });
    samples.set(keyOf(metric), existing);
  }

  /** Returns the statistic of a metric for each period up to `end`, the earliest first. Times are in milliseconds. */
  function read(metric: Metric, statistic: string, period: number, periods: number, end: number): Series {
    const statisticOf = statistics[statistic];
    if (!statisticOf) throw new Error(`The tests do not support the statistic ${statistic}.`);
    const start = end - periods * period;
    const bins: number[][] = Array.from({ length: periods }, () => []);
    for (const { at, value } of samples.get(keyOf(metric)) ?? []) bins[Math.floor((at - start) / period)]?.push(value);
    return bins.map(values => (values.length === 0 ? undefined : statisticOf(values)));
  }
}

/** Returns a unique key for a metric. */
function keyOf({ namespace, name, dimensions }: Metric): string {
  const pairs = Object.entries(dimensions).map(pair => pair.join('='));
  return [namespace, name, ...pairs.sort()].join(' ');
}

const statistics: Readonly<Record<string, (values: readonly number[]) => number>> = {
  Sum: values => values.reduce((total, value) => total + value, 0),
  SampleCount: values => values.length,
  Maximum: values => Math.max(...values),
  Minimum: values => Math.min(...values),
};

/** The properties of an alarm in a template. */
export interface AlarmProperties extends Partial<MetricStat['Metric']> {
  readonly AlarmDescription: string;
  readonly Metrics?: readonly { readonly Id: string; readonly Expression?: string; readonly MetricStat?: MetricStat }[];
  readonly Statistic?: string;
  readonly Period?: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm: number;
  readonly Threshold: number;
  readonly ComparisonOperator: 'GreaterThanThreshold' | 'LessThanThreshold';
  readonly TreatMissingData: 'breaching' | 'notBreaching';
}

interface MetricStat {
  readonly Metric: {
    readonly Namespace: string;
    readonly MetricName: string;
    readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
  };
  readonly Period: number;
  readonly Stat: string;
}

/**
 * Returns true if an alarm in a template is active at a given time. Like CloudWatch, this function evaluates the newest existing values,
 * which may be from a few earlier periods. Missing values matter only if there are too few existing values.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function isAlarmActive(alarm: AlarmProperties, metrics: Metrics, time: number): boolean {
  const { EvaluationPeriods, DatapointsToAlarm, Threshold } = alarm;
  const existing = valuesOf(alarm, metrics, time).filter(value => value !== undefined);
  const evaluated = existing.slice(-EvaluationPeriods);
  const missing = alarm.TreatMissingData === 'breaching' ? EvaluationPeriods - evaluated.length : 0;
  const isAbove = alarm.ComparisonOperator === 'GreaterThanThreshold';
  const breaching = evaluated.filter(value => (isAbove ? value > Threshold : value < Threshold));
  return breaching.length + missing >= DatapointsToAlarm;
}

/** Returns the metrics that an alarm watches, one for each statistic. AWS bills each of them. */
export function watchedMetrics(alarm: AlarmProperties): readonly Metric[] {
  return statisticsOf(alarm).map(({ Metric }) => metricOf(Metric));
}

/** The number of earlier periods that CloudWatch evaluates. AWS does not document this number, but its examples use 2 to 4. */
const earlierPeriods = 3;

function valuesOf(alarm: AlarmProperties, metrics: Metrics, time: number): Series {
  const periods = alarm.EvaluationPeriods + earlierPeriods;
  const series = statisticsOf(alarm).map(
    ({ Id, Metric, Stat, Period }) =>
      [Id, metrics.read(metricOf(Metric), Stat, Period * 1_000, periods, time)] as const,
  );
  const expression = alarm.Metrics?.flatMap(({ Expression }) => Expression ?? []).join();
  if (expression === undefined) return series[0]?.[1] ?? [];
  const evaluate = expressions[expression];
  if (!evaluate) throw new Error(`The tests do not support the metric math ${expression}.`);
  return evaluate(Object.fromEntries(series));
}

function statisticsOf({ Metrics, Namespace = '', MetricName = '', Dimensions = [], ...alarm }: AlarmProperties) {
  if (Metrics) return Metrics.flatMap(({ Id, MetricStat }) => (MetricStat ? [{ Id, ...MetricStat }] : []));
  const { Statistic: Stat = '', Period = Number.NaN } = alarm;
  return [{ Id: '', Metric: { Namespace, MetricName, Dimensions }, Stat, Period }];
}

/**
 * Evaluates the metric math in the templates. This `FILL` leaves a series without values empty. CloudWatch does not document that case.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
const expressions: Readonly<Record<string, (series: Readonly<Record<string, Series>>) => Series>> = {
  'FILL(1 - errors, 0)': ({ errors = [] }) =>
    errors.every(value => value === undefined) ? errors : errors.map(value => 1 - (value ?? 1)),
  'IF(attempts >= 20, delivered / attempts, 1)': ({ attempts = [], delivered = [] }) =>
    attempts.map((count, at) => {
      if (count === undefined || count < 20) return count === undefined ? undefined : 1;
      return delivered[at] === undefined ? undefined : delivered[at] / count;
    }),
};

function metricOf({ Namespace, MetricName, Dimensions = [] }: MetricStat['Metric']): Metric {
  const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, nameOf(Value)]));
  return { namespace: Namespace, name: MetricName, dimensions };
}

/** Returns the logical id of the resource that a dimension refers to, without its hash. */
function nameOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const [id = ''] =
    /(?<=(?:Ref|GetAtt)?)[A-Z][A-Za-z]+(?=[0-9A-F]{8})/.exec(
      JSON.stringify(value).replace(/.*ExportsOutput(?:Ref|FnGetAtt)/, ''),
    ) ?? [];
  return id;
}
