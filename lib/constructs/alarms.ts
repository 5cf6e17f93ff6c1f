import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { metricsNamespace } from '../stage-props.ts';

/** When an alarm goes off, and what it says then. */
export interface AlarmRule {
  /** What is wrong and where to look, in one line. An operator reads it first. */
  readonly description: string;
  readonly metric: cloudwatch.IMetric;
  /** Goes off above this value. @default 0 */
  readonly above?: number;
  /** Goes off below this value instead; missing data counts as below. */
  readonly below?: number;
  /** Number of breaching periods. @default 1 */
  readonly periods?: number;
  /** The breaching periods may be any of so many latest ones. @default - they are consecutive */
  readonly among?: number;
}

/** The properties of a stack's alarms. */
export interface AlarmsProps {
  /** Is told when an alarm goes off and when it is over. */
  readonly topic: ITopic;
  /** The alarms by their ids. */
  readonly rules: Readonly<Record<string, AlarmRule>>;
}

/** The alarms of one stack. */
export class Alarms extends Construct {
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { topic, rules }: AlarmsProps) {
    super(scope, id);
    this.alarms = Object.entries(rules).map(([name, rule]) => this.#addAlarm(name, rule));
    for (const alarm of this.alarms) {
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
  }

  #addAlarm(id: string, { description, metric, above = 0, below, periods = 1, among = periods }: AlarmRule) {
    return new cloudwatch.Alarm(this, id, {
      alarmDescription: description,
      metric,
      threshold: below ?? above,
      evaluationPeriods: among,
      datapointsToAlarm: periods,
      comparisonOperator:
        below === undefined
          ? cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
          : cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData:
        below === undefined ? cloudwatch.TreatMissingData.NOT_BREACHING : cloudwatch.TreatMissingData.BREACHING,
    });
  }
}

/** A count that functions write themselves, summed over five minutes; `service` is the name that they write it under. */
export function serviceCount(
  configuration: StageConfiguration,
  service: string,
  metricName: string,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: metricsNamespace(configuration),
    metricName,
    dimensionsMap: { service },
    statistic: 'Sum',
    period: Duration.minutes(5),
  });
}
