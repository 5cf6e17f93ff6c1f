import { Arn, ArnFormat, Aws, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';

/** The condition under which an alarm fires. */
export interface AlarmRule {
  readonly metric: cloudwatch.IMetric;
  /** @default 0 */
  readonly threshold?: number;
  /** The side of the threshold on which the alarm fires. @default above */
  readonly comparison?: 'above' | 'below';
  /** The number of breaching periods. @default 1 */
  readonly periods?: number;
  /** The number of most recent periods that must contain the breaching periods. @default - `periods`, which must then be consecutive */
  readonly among?: number;
  /** The treatment of periods without data. @default notBreaching */
  readonly missing?: 'breaching' | 'notBreaching';
}

/** An alarm, and the text of its e-mail. */
export interface AlarmRow {
  /** A page wakes an operator. A ticket waits until the morning. */
  readonly severity: Severity;
  /** The impact on users, as one or two sentences. */
  readonly impact: string;
  /** The `ops` command that the operator should run first. */
  readonly command: string;
  readonly rule: AlarmRule;
  /** The alarm's section in the runbook. @default - its name */
  readonly section?: string;
}

type Severity = 'page' | 'ticket';

export interface AlarmsProps {
  readonly configuration: StageConfiguration;
  readonly topics: AlarmTopics;
  readonly rows: Readonly<Record<string, AlarmRow>>;
}

/**
 * The alarms of one stack. Each alarm publishes to the topic for its severity when it fires. Alarms have no OK action, because new alarms
 * also change to OK, and every deployment would send e-mails.
 */
export class Alarms extends Construct {
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { configuration, topics, rows }: AlarmsProps) {
    super(scope, id);
    this.alarms = Object.entries(rows).map(([name, { severity, rule, ...row }]) => {
      const { metric, threshold = 0, comparison = 'above', periods = 1, among = periods, missing } = rule;
      const alarm = new cloudwatch.Alarm(this, name, {
        alarmDescription: describe({ section: name, severity, ...row }, configuration),
        metric,
        threshold,
        evaluationPeriods: among,
        datapointsToAlarm: periods,
        comparisonOperator: operators[comparison],
        treatMissingData: cloudwatch.TreatMissingData[missing === 'breaching' ? 'BREACHING' : 'NOT_BREACHING'],
      });
      alarm.addAlarmAction(new SnsAction(topics[severity]));
      return alarm;
    });
  }
}

/** The topics that alarms publish to. The stage's recipients receive e-mails from both topics. */
export class AlarmTopics extends Construct {
  readonly page: sns.Topic;
  readonly ticket: sns.Topic;

  constructor(scope: Construct, configuration: StageConfiguration) {
    super(scope, 'AlarmTopics');
    this.ticket = this.#addTopic('Tickets', 'tickets', configuration);
    this.page = this.#addTopic('Pages', 'PAGE', configuration);
  }

  #addTopic(id: string, name: string, { stage, alarmRecipients }: StageConfiguration): sns.Topic {
    const topic = new sns.Topic(this, id, { displayName: `Emissor ${stage} ${name}`, enforceSSL: true });
    for (const address of alarmRecipients) topic.addSubscription(new EmailSubscription(address));
    topic.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { ArnLike: { 'aws:SourceArn': alarmArns(this, stage) } },
      }),
    );
    return topic;
  }
}

/** Returns an ARN pattern for the stage's alarms. CloudFormation starts the name of each alarm with the name of its stack. */
function alarmArns(scope: Construct, stage: string): string {
  const arn = {
    service: 'cloudwatch',
    account: Aws.ACCOUNT_ID,
    resource: 'alarm',
    resourceName: `Emissor-${stage}-*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  };
  return Arn.format(arn, Stack.of(scope));
}

/** Returns the description of an alarm. CloudWatch includes the description in the alarm's e-mail. */
function describe(
  { section, severity, impact, command }: Required<Pick<AlarmRow, 'section' | 'severity' | 'impact' | 'command'>>,
  { stage }: StageConfiguration,
): string {
  return `[${severity}] ${stage} ${section}: ${impact} | First: npm run ops -- --stage ${stage} ${command} | Then: docs/runbook.md#${section.toLowerCase()}`;
}

const operators = {
  above: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
  below: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
};
