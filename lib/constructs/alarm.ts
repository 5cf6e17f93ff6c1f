import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { metricsNamespace } from '../stage-props.ts';

/** When an alarm goes off. */
export interface AlarmRule {
  /** What is wrong and where to look, in one line: it is what wakes somebody. */
  readonly description: string;
  readonly metric: cloudwatch.IMetric;
  /** Goes off above it. @default 0 */
  readonly above?: number;
  /** Goes off below it instead; missing data counts as below. */
  readonly below?: number;
  /** Periods in a row. @default 1 */
  readonly periods?: number;
  /** The periods need not be in a row, but lie among so many. @default - in a row */
  readonly among?: number;
}

/** Raises alarms of one stack on the operations topic. */
export class Alarms extends Construct {
  readonly #topic: ITopic;
  readonly #configuration: StageConfiguration;

  constructor(scope: Construct, id: string, props: { topic: ITopic; configuration: StageConfiguration }) {
    super(scope, id);
    this.#topic = props.topic;
    this.#configuration = props.configuration;
  }

  /** A count that a function writes itself; `service` is the name it writes under. Summed over five minutes. */
  count(service: string, metricName: string, period = Duration.minutes(5)): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: metricsNamespace(this.#configuration),
      metricName,
      dimensionsMap: { service },
      statistic: 'Sum',
      period,
    });
  }

  /** Adds one alarm. */
  add(id: string, { description, metric, above = 0, below, periods = 1, among = periods }: AlarmRule): void {
    const alarm = new cloudwatch.Alarm(this, id, {
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
    alarm.addAlarmAction(new SnsAction(this.#topic));
    alarm.addOkAction(new SnsAction(this.#topic));
  }
}
