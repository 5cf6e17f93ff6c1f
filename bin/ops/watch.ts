import { CloudWatchClient, DescribeAlarmsCommand, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { CliError } from './cli-error.ts';
import { iso } from './report.ts';
import { connectionSettings, type Target } from './target.ts';

/** The alarms of a stage. */
export interface AlarmsView {
  /** How many were looked at. */
  readonly total: number;
  /** Whether there are more than were looked at. */
  readonly isCutOff: boolean;
  readonly ringing: readonly RingingAlarm[];
}

/** An alarm that rings. */
interface RingingAlarm {
  readonly name: string;
  readonly since: string | null;
  readonly description: string;
}

/** Reads the alarms of a stage: those that CloudFormation named after its stacks, 100 of each stack at most. */
export async function readAlarms(target: Target): Promise<AlarmsView> {
  if (!target.deployed) throw new CliError(`${target.label} has no alarms that can be asked: name a stage.`);
  const cloudWatch = new CloudWatchClient(connectionSettings(target, undefined));
  const answers = await Promise.all(
    target.deployed.stacks.map(({ stackName }) =>
      cloudWatch.send(new DescribeAlarmsCommand({ AlarmNamePrefix: `${stackName}-`, MaxRecords: 100 })),
    ),
  );
  const alarms = answers.flatMap(({ MetricAlarms = [] }) => MetricAlarms);
  const ringing = alarms
    .filter(({ StateValue }) => StateValue === 'ALARM')
    .map(({ AlarmName = '', AlarmDescription = '', StateUpdatedTimestamp }) => ({
      name: AlarmName,
      since: iso(StateUpdatedTimestamp?.getTime()),
      description: AlarmDescription,
    }));
  return { total: alarms.length, isCutOff: answers.some(({ NextToken }) => NextToken !== undefined), ringing };
}

/**
 * The age of the oldest message of queues, in seconds: CloudWatch's latest value of the last ten minutes, `null` where it has
 * none. SQS itself does not tell it.
 */
export async function readAges(target: Target, queueNames: readonly string[]): Promise<readonly (number | null)[]> {
  const cloudWatch = new CloudWatchClient(connectionSettings(target, undefined));
  const now = Date.now();
  const { MetricDataResults = [] } = await cloudWatch.send(
    new GetMetricDataCommand({
      StartTime: new Date(now - 600_000),
      EndTime: new Date(now),
      ScanBy: 'TimestampDescending',
      MetricDataQueries: queueNames.map((Value, index) => ({
        Id: `age${index}`,
        MetricStat: {
          Metric: {
            Namespace: 'AWS/SQS',
            MetricName: 'ApproximateAgeOfOldestMessage',
            Dimensions: [{ Name: 'QueueName', Value }],
          },
          Period: 60,
          Stat: 'Maximum',
        },
      })),
    }),
  );
  return queueNames.map((_, index) => MetricDataResults.find(({ Id }) => Id === `age${index}`)?.Values?.[0] ?? null);
}
