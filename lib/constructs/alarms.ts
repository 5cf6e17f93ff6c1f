import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

/** The rule of an alarm: when it goes off, and what it says then. */
export interface AlarmRule {
  /** The fault and where to look, in one line. An operator reads it first. */
  readonly description: string;
  readonly metric: cloudwatch.IMetric;
  /** @default 0 */
  readonly threshold?: number;
  /** The side of the threshold on which it goes off; missing data counts as below. @default above */
  readonly comparison?: 'above' | 'below';
  /** Number of breaching periods. @default 1 */
  readonly periods?: number;
  /** The breaching periods may be any of this many latest ones. @default - they are consecutive */
  readonly among?: number;
}

/** The properties of a stack's alarms. */
export interface AlarmsProps {
  /** Receives a message when an alarm goes off and when it is over. */
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

  #addAlarm(id: string, rule: AlarmRule) {
    const { description, metric, threshold = 0, comparison = 'above', periods = 1, among = periods } = rule;
    return new cloudwatch.Alarm(this, id, {
      alarmDescription: description,
      metric,
      threshold,
      evaluationPeriods: among,
      datapointsToAlarm: periods,
      ...comparisons[comparison],
    });
  }
}

const comparisons = {
  above: {
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  },
  below: {
    comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.BREACHING,
  },
};
