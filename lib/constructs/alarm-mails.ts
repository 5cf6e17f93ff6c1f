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
import { type AlarmRow, Alarms, beginningOf, describe, type Severity, type Urgency } from './alarms.ts';
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
 * Of the stage's own certificates ACM tells by itself, without an alarm.
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
    this.unsent = new DeadLetterQueue(this, 'Unsent', { removalPolicy });
    Validations.of(this.unsent).acknowledge({
      id: 'AwsSolutions::AwsSolutions-SQS3',
      reason: 'It is a dead-letter queue, of EventBridge: the rule knows those of other queues only.',
    });
    for (const [id, mail] of Object.entries(mails)) this.#addRule(id, mail);
    for (const [id, mail] of Object.entries(certificateMails)) this.#addCertificateRule(id, mail);
    const { alarms } = new Alarms(this, 'Alarms', { configuration, rows: mailAlarms(configuration, this.unsent) });
    for (const alarm of alarms) for (const topic of props.topics.page) this.#letTell(alarm, topic);
  }

  #addRule(id: string, { of, from, to, as }: Mail): void {
    const word = to === 'OK' ? 'Over' : 'Rings';
    const description = `Sends the mail of an alarm: ${of}, ${word.toLowerCase()}`;
    this.#addMail(id, as, text(word), description, {
      source: ['aws.cloudwatch'],
      detailType: ['CloudWatch Alarm State Change'],
      detail: {
        state: { value: [to] },
        ...(from && { previousState: { value: [from] } }),
        configuration: { description: [{ prefix: beginningOf(of, this.#props.configuration) }] },
      },
    });
  }

  #addCertificateRule(id: string, { event, days, ...row }: CertificateMail): void {
    const { configuration } = this.#props;
    const certificates = new Set([configuration.authDomain?.certificateArn, configuration.baseDomain?.certificateArn]);
    const resources = [...certificates].filter(arn => arn !== undefined);
    if (resources.length === 0) return;
    const told = describe('CertificateExpires', row.severity, { ...row, command: 'status' }, configuration);
    this.#addMail(
      id,
      row.severity,
      certificateText(told),
      `Sends the mail of a certificate: ${row.severity}, ${event}`,
      {
        source: ['aws.acm'],
        detailType: [`ACM Certificate ${event}`],
        resources,
        ...(days && { detail: { DaysToExpiry: days } }),
      },
    );
  }

  #addMail(id: string, severity: Severity, mail: string, description: string, eventPattern: events.EventPattern): void {
    const message = events.RuleTargetInput.fromMultilineText(mail);
    const target = (topic: ITopic) => new targets.SnsTopic(topic, { message, deadLetterQueue: this.unsent });
    new events.Rule(this, id, { description, eventPattern, targets: this.#props.topics[severity].map(target) });
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

/** A mail about a certificate of the stage's domains. */
interface CertificateMail extends Pick<AlarmRow, 'severity' | 'harm'> {
  readonly event: 'Approaching Expiration' | 'Expired';
  /** The days before its end on which it is sent: ACM tells of public ones each day from 30 on. @default - any */
  readonly days?: readonly number[];
}

const ended = 'A certificate of the domains ends within a day, or has ended: no client connects then.';

/** ACM renews what it issued 45 days before its end, or 60 where it lives 395, if it can. Of the end of an imported one it does not tell. */
const certificateMails: Readonly<Record<string, CertificateMail>> = {
  CertificateExpires: {
    severity: 'ticket',
    event: 'Approaching Expiration',
    days: [30, 14, 7, 3, 2],
    harm: 'A certificate of the domains ends soon, and was not renewed: no client connects then.',
  },
  CertificateLastDay: { severity: 'page', event: 'Approaching Expiration', days: [1, 0], harm: ended },
  CertificateExpired: { severity: 'page', event: 'Expired', harm: ended },
};

const field = events.EventField.fromPath;

/** The fields are put in by EventBridge. Each line is a text of its own, which is how its templates have several. */
function text(word: string): string {
  return [
    `${word} since ${field('$.detail.state.timestamp')}:`,
    field('$.detail.configuration.description'),
    `CloudWatch says: ${field('$.detail.state.reason')}`,
    `Alarm ${field('$.detail.alarmName')} in ${field('$.region')}, account ${field('$.account')}`,
  ].join('\n');
}

function certificateText(told: string): string {
  return [
    told,
    `${field('$.detail-type')}: ${field('$.detail.CommonName')}`,
    `Certificate ${field('$.resources[0]')}`,
  ].join('\n');
}
