import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { beginningOf, type Severity } from './alarms.ts';

export interface AlarmMailsProps {
  readonly configuration: StageConfiguration;
  /** They receive the mails of each severity. */
  readonly topics: Readonly<Record<Severity, readonly ITopic[]>>;
}

/**
 * The mails that alarms send: when one rings, and, of a page only, when it is over. A new alarm becomes OK without ever having
 * rung, which is told to nobody: no deployment sends a mail.
 */
export class AlarmMails extends Construct {
  readonly #props: AlarmMailsProps;

  constructor(scope: Construct, id: string, props: AlarmMailsProps) {
    super(scope, id);
    this.#props = props;
    this.#addRule('Page', 'page', { state: { value: ['ALARM'] } }, 'Rings');
    this.#addRule('Ticket', 'ticket', { state: { value: ['ALARM'] } }, 'Rings');
    this.#addRule('Over', 'page', { state: { value: ['OK'] }, previousState: { value: ['ALARM'] } }, 'Over');
  }

  #addRule(id: string, severity: Severity, change: object, word: string): void {
    const { configuration, topics } = this.#props;
    const message = events.RuleTargetInput.fromMultilineText(text(word));
    new events.Rule(this, id, {
      description: `Sends the mail of an alarm: ${severity}, ${word.toLowerCase()}`,
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        detail: { ...change, configuration: { description: [{ prefix: beginningOf(severity, configuration) }] } },
      },
      targets: topics[severity].map(topic => new targets.SnsTopic(topic, { message })),
    });
  }
}

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
