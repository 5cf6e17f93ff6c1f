import { CloudWatchClient, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { type Check, must, until, type World } from './check.ts';

/** The check of who brings events. */
export const publisherChecks: readonly Check[] = [
  {
    name: 'senders',
    claim:
      'Topics, `.fifo` ones too, and rules of EventBridge may send to the events queue where the stage names them, and SQS names one sender for all topics and one for all rules',
    emulated: 'every message has one sender',
    run: checkSenders,
  },
];

/** Deploys the delivery stack with the scratch topics and the rule as publishers, has each bring what is no event, and looks who sent it. */
async function checkSenders(world: World): Promise<string> {
  const { configuration, settings, scratch, workshop, ops, progress } = world;
  const { TopicArn = '', FifoTopicArn = '', RuleArn = '', AlarmName } = scratch;
  const stacks = [`Emissor-${configuration.stage}-Delivery`, '--exclusively'];
  progress('deploying the publishers');
  const values = { publisherTopics: `${TopicArn},${FifoTopicArn}`, publisherRules: RuleArn };
  const { succeeded, output } = await workshop.deploy({ values, stacks });
  must(succeeded, `the deployment with publishers failed:\n${output.slice(-2_000)}`);
  try {
    const sns = new SNSClient(settings);
    await sns.send(new PublishCommand({ TopicArn, Message: messageOf('topic') }));
    await sns.send(
      new PublishCommand({ TopicArn: FifoTopicArn, Message: messageOf('fifo'), MessageGroupId: 'first-day' }),
    );
    await new CloudWatchClient(settings).send(
      new SetAlarmStateCommand({ AlarmName, StateValue: 'ALARM', StateReason: 'npm run first-day' }),
    );
    const senders = await until('three dead letters', 5, async () => {
      const letters = await ops<Letter[]>('dlq', 'list');
      const of = (source: string) => letters.find(({ body }) => body === messageOf(source));
      const [topic, fifo, rule] = [of('topic'), of('fifo'), of('rule')];
      return topic && fifo && rule ? { topic, fifo, rule } : undefined;
    });
    await ops('dlq', 'discard', ...Object.values(senders).map(({ messageId }) => messageId));
    const { topic, fifo, rule } = senders;
    must(topic.sender && topic.sender === fifo.sender, `the topics have two senders: ${topic.sender}, ${fifo.sender}`);
    must(rule.sender && rule.sender !== topic.sender, `the rule and the topics have one sender: ${rule.sender}`);
    return `${topic.sender} for both topics, ${rule.sender} for the rule`;
  } finally {
    progress('taking the publishers back');
    await workshop.deploy({ stacks });
  }
}

interface Letter {
  readonly messageId: string;
  readonly body: string;
  readonly sender: string | null;
}

function messageOf(source: string): string {
  return JSON.stringify({ first_day: source });
}
