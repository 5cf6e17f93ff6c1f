import type { Metric, Metrics, Series } from './metrics.ts';

/** The properties of an alarm in a template. */
export interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly Metrics?: readonly MetricQuery[];
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly Dimension[];
  readonly Statistic?: string;
  readonly Period?: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm: number;
  readonly Threshold: number;
  readonly ComparisonOperator: 'GreaterThanThreshold' | 'LessThanThreshold';
  readonly TreatMissingData: 'breaching' | 'notBreaching';
}

/**
 * Returns whether an alarm of a template rings at a moment, by its own expression, periods and threshold. As CloudWatch does, it judges the
 * newest values that are there, also of some periods before; a missing one counts only where these are too few.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function rings(alarm: AlarmProperties, metrics: Metrics, moment: number): boolean {
  const { EvaluationPeriods, DatapointsToAlarm, Threshold } = alarm;
  const found = valuesOf(alarm, metrics, moment).filter(value => value !== undefined);
  const judged = found.slice(-EvaluationPeriods);
  const missing = alarm.TreatMissingData === 'breaching' ? EvaluationPeriods - judged.length : 0;
  const isAbove = alarm.ComparisonOperator === 'GreaterThanThreshold';
  const breaching = judged.filter(value => (isAbove ? value > Threshold : value < Threshold));
  return breaching.length + missing >= DatapointsToAlarm;
}

/** Returns the metrics that an alarm watches, one for each statistic: these are what it is billed by. */
export function watchedMetrics(alarm: AlarmProperties): readonly Metric[] {
  if (!alarm.Metrics) return [metricOf(alarm)];
  return alarm.Metrics.flatMap(({ MetricStat }) => (MetricStat ? [metricOf(MetricStat.Metric)] : []));
}

interface MetricQuery {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: {
    readonly Metric: Pick<AlarmProperties, 'Namespace' | 'MetricName' | 'Dimensions'>;
    readonly Period: number;
    readonly Stat: string;
  };
}

interface Dimension {
  readonly Name: string;
  readonly Value: unknown;
}

/** AWS documents no number: its examples and reports say two to four. It matters to rules that do not fill, those on silence. */
const fartherBack = 3;

function valuesOf(alarm: AlarmProperties, metrics: Metrics, moment: number): Series {
  const read = (metric: Metric, statistic: string, period: number): Series =>
    metrics.read(metric, statistic, period * 1_000, alarm.EvaluationPeriods + fartherBack, moment);
  if (!alarm.Metrics) return read(metricOf(alarm), alarm.Statistic ?? '', alarm.Period ?? Number.NaN);
  const series = alarm.Metrics.flatMap(({ Id, MetricStat }) =>
    MetricStat ? [[Id, read(metricOf(MetricStat.Metric), MetricStat.Stat, MetricStat.Period)] as const] : [],
  );
  const queries = alarm.Metrics.flatMap(({ Expression }) => Expression ?? []);
  const evaluate = expressions[queries.join()];
  if (!evaluate) throw new Error(`The tests do not know the metric math ${queries.join()}.`);
  return evaluate(Object.fromEntries(series));
}

/**
 * The expressions of the templates. Of a series without any value, `FILL` makes none either: CloudWatch's documentation leaves that open.
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

function metricOf({ Namespace = '', MetricName = '', Dimensions = [] }: Partial<AlarmProperties>): Metric {
  const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, nameOf(Value)]));
  return { namespace: Namespace, name: MetricName, dimensions };
}

/** The logical id of what a dimension refers to, without the hash at its end. */
function nameOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const [id = ''] =
    /(?<=(?:Ref|GetAtt)?)[A-Z][A-Za-z]+(?=[0-9A-F]{8})/.exec(
      JSON.stringify(value).replace(/.*ExportsOutput(?:Ref|FnGetAtt)/, ''),
    ) ?? [];
  return id;
}
