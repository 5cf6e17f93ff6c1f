import { evaluate, type Series } from './metric-math.ts';
import type { Metric, Metrics } from './metrics.ts';

/** The properties of an alarm in a template. */
export interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly Metrics?: readonly MetricQuery[];
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly Dimension[];
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
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

/** AWS tells no number: its examples and others' reports say two to four. By rules that do not fill, those on silence, it matters. */
const fartherBack = 3;

function valuesOf(alarm: AlarmProperties, metrics: Metrics, moment: number): Series {
  const read = (metric: Metric, statistic: string, period: number): Series =>
    metrics.read(metric, statistic, period * 1_000, alarm.EvaluationPeriods + fartherBack, moment);
  if (!alarm.Metrics)
    return read(metricOf(alarm), alarm.Statistic ?? alarm.ExtendedStatistic ?? '', alarm.Period ?? Number.NaN);
  const series = alarm.Metrics.flatMap(({ Id, MetricStat }) =>
    MetricStat ? [[Id, read(metricOf(MetricStat.Metric), MetricStat.Stat, MetricStat.Period)] as const] : [],
  );
  const [{ Expression } = {}, ...others] = alarm.Metrics.filter(query => query.Expression !== undefined);
  if (Expression === undefined || others.length > 0) throw new Error('An alarm has one expression.');
  return evaluate(Expression, Object.fromEntries(series));
}

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
