import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  GetMetricStatisticsCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { requireOutput } from '../actions/target.ts';
import { type Check, must, until, type World } from './check.ts';

/** The checks of what an operator is told by. */
export const alarmChecks: readonly Check[] = [
  {
    name: 'metrics',
    claim: 'CloudWatch reads metrics from JSON log lines (EMF): alarms watch them',
    emulated: 'it reads no metrics from logs',
    run: checkMetrics,
  },
  {
    name: 'alarm-mail',
    claim: 'An alarm that rings sends one mail with what users feel and the command, and one when it is over',
    emulated: 'its alarms send no events to EventBridge',
    run: checkMail,
  },
];

/** A login that is refused is counted. */
async function checkMetrics({ target, settings, configuration: { stage } }: World): Promise<string> {
  const since = new Date(Date.now() - 60_000);
  const form = { grant_type: 'password', username: 'nobody', password: 'nothing', client_id: 'x', client_secret: 'x' };
  await fetch(`${requireOutput(target, 'AuthUrl')}/oauth/v1/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const cloudWatch = new CloudWatchClient(settings);
  const asked = Date.now();
  const read = async (service: string, MetricName: string) => {
    const { Datapoints = [] } = await cloudWatch.send(
      new GetMetricStatisticsCommand({
        Namespace: `Emissor/${stage}`,
        MetricName,
        Dimensions: [{ Name: 'service', Value: service }],
        StartTime: since,
        EndTime: new Date(Date.now() + 60_000),
        Period: 60,
        Statistics: ['SampleCount'],
      }),
    );
    return Datapoints.length > 0 ? true : undefined;
  };
  await until('a value of InvalidClient in CloudWatch', 10, () => read('token', 'InvalidClient'));
  return `a refused login was counted within ${Math.round((Date.now() - asked) / 1_000)} s`;
}

/** Sets a page's alarm, whose state CloudWatch puts right by itself at its next evaluation. */
async function checkMail({ target, settings, scratch, configuration: { stage } }: World): Promise<string> {
  const cloudWatch = new CloudWatchClient(settings);
  const { MetricAlarms = [] } = await cloudWatch.send(
    new DescribeAlarmsCommand({ AlarmNamePrefix: `Emissor-${stage}-`, StateValue: 'OK' }),
  );
  const alarm = MetricAlarms.find(({ AlarmDescription = '' }) => AlarmDescription.startsWith(`[page] ${stage} `));
  must(alarm, `no alarm of stage ${stage} that pages is OK: look at ops status first`);
  const { AlarmName = '', AlarmDescription = '' } = alarm;
  const reason = 'npm run first-day rings it. Nothing has happened.';
  const set = (StateValue: 'ALARM' | 'OK') =>
    cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: reason }));
  const mail = await makeMailbox(settings, scratch);

  await set('ALARM');
  const rings = await mail.find(text => text.includes(AlarmName) && text.startsWith('Rings since'));
  must(rings.includes(AlarmDescription), `the mail does not tell what the alarm says:\n${rings}`);
  must(rings.includes(reason), `the mail does not tell why:\n${rings}`);
  await set('OK');
  await mail.find(text => text.includes(AlarmName) && text.startsWith('Over since'));
  return `of ${AlarmName}, to ${requireOutput(target, 'PagesTopicArn').split(':').at(-1)}:\n${rings}`;
}

async function makeMailbox(settings: World['settings'], { MailboxUrl }: World['scratch']) {
  const sqs = new SQSClient(settings);
  const read: string[] = [];
  return {
    /** Waits for a mail. */
    find: (isWanted: (text: string) => boolean) =>
      until('a mail of the alarm', 5, async () => {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: MailboxUrl, WaitTimeSeconds: 10, MaxNumberOfMessages: 10 }),
        );
        for (const { Body = '', ReceiptHandle } of Messages) {
          read.push(Body.replace(/^"|"$/gm, '')); // EventBridge sends its lines in quotes
          await sqs.send(new DeleteMessageCommand({ QueueUrl: MailboxUrl, ReceiptHandle }));
        }
        return read.find(isWanted);
      }),
  };
}
