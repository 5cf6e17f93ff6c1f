import { Validations } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { mailAlarms } from '../alarms.ts';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';
import { Alarms, beginningOf, type Severity, type Urgency } from './alarms.ts';
import { DeadLetterQueue } from './work-queue.ts';

export interface AlarmMailsProps {
  readonly configuration: StageConfiguration;
  /** They receive the mails of each severity. */
  readonly topics: Readonly<Record<Severity, readonly ITopic[]>>;
}

/**
 * The mails that alarms send: when one rings, and, of a page only, when it is over. A new alarm becomes OK without ever having
 * rung, which is told to nobody: no deployment sends a mail. A new alarm on silence rings until it hears something for the first time:
 * that is a ticket. Whether the end of a silence is that of a page or of such a ticket is not told: it is a ticket, too.
 *
 * What the rules cannot send lies on a queue, whose own alarm needs no rule.
 */
export class AlarmMails extends Construct {
  /** The changes of alarms whose mails were not sent. */
  readonly unsent: DeadLetterQueue;
  readonly #props: AlarmMailsProps;

  constructor(scope: Construct, id: string, props: AlarmMailsProps) {
    super(scope, id);
    this.#props = props;
    const { configuration } = props;
    const { removalPolicy } = retentionOf(configuration);
    this.unsent = new DeadLetterQueue(this, 'Unsent', { removalPolicy, dataKey: undefined });
    Validations.of(this.unsent).acknowledge({
      id: 'AwsSolutions::AwsSolutions-SQS3',
      reason: 'It is a dead-letter queue, of EventBridge: the rule knows those of other queues only.',
    });
    for (const [id, mail] of Object.entries(mails)) this.#addRule(id, mail);
    const { alarms } = new Alarms(this, 'Alarms', { configuration, rows: mailAlarms(configuration, this.unsent) });
    for (const alarm of alarms) for (const topic of props.topics.page) this.#letTell(alarm, topic);
  }

  #addRule(id: string, { of, from, to, as }: Mail): void {
    const { configuration, topics } = this.#props;
    const word = to === 'OK' ? 'Over' : 'Rings';
    const message = events.RuleTargetInput.fromMultilineText(text(word));
    new events.Rule(this, id, {
      description: `Sends the mail of an alarm: ${of}, ${word.toLowerCase()}`,
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        detail: {
          state: { value: [to] },
          ...(from && { previousState: { value: [from] } }),
          configuration: { description: [{ prefix: beginningOf(of, configuration) }] },
        },
      },
      targets: topics[as].map(topic => new targets.SnsTopic(topic, { message, deadLetterQueue: this.unsent })),
    });
  }

  #letTell(alarm: Alarm, topic: ITopic): void {
    alarm.addAlarmAction(new SnsAction(topic));
    topic.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { ArnEquals: { 'aws:SourceArn': alarm.alarmArn } },
      }),
    );
  }
}

/** A change of an alarm's state that is mailed. */
interface Mail {
  readonly of: Urgency;
  /** @default - any other state */
  readonly from?: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
  readonly to: 'OK' | 'ALARM';
  /** It goes to the topics of this severity. */
  readonly as: Severity;
}

const mails: Readonly<Record<string, Mail>> = {
  Page: { of: 'page', to: 'ALARM', as: 'page' },
  Ticket: { of: 'ticket', to: 'ALARM', as: 'ticket' },
  Over: { of: 'page', from: 'ALARM', to: 'OK', as: 'page' },
  Silence: { of: 'page: silence', from: 'OK', to: 'ALARM', as: 'page' },
  FirstSilence: { of: 'page: silence', from: 'INSUFFICIENT_DATA', to: 'ALARM', as: 'ticket' },
  SilenceOver: { of: 'page: silence', from: 'ALARM', to: 'OK', as: 'ticket' },
};

/** The fields are put in by EventBridge. Each line is a text of its own, which is how its templates have several. */
function text(word: string): string {
  const field = events.EventField.fromPath;
  return [
    `${word} since ${field('$.detail.state.timestamp')}:`,
    field('$.detail.configuration.description'),
    `CloudWatch says: ${field('$.detail.state.reason')}`,
    `Alarm ${field('$.detail.alarmName')} in ${field('$.region')}, account ${field('$.account')}`,
  ].join('\n');
}
