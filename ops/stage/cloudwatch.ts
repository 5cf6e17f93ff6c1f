import { CloudWatchClient, DescribeAlarmsCommand, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  type ResultField,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { CliError, type ShowProgress } from './operator.ts';
import { requireOutput, type Target } from './target.ts';

/** Reads the alarms of a stage: those that CloudFormation named after its stacks, 100 of each stack at most. */
export async function readAlarms(target: Target) {
  if (!target.deployed) throw new CliError(`${target.label} has no CloudWatch alarms. Name a stage with --stage.`);
  const cloudWatch = target.connect(CloudWatchClient);
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
      since: StateUpdatedTimestamp?.toISOString() ?? null,
      description: AlarmDescription,
    }));
  return { total: alarms.length, isCutOff: answers.some(({ NextToken }) => NextToken !== undefined), ringing };
}

/**
 * The age of the oldest message of queues, in seconds: CloudWatch's latest value of the last ten minutes, `null` where it has
 * none. SQS itself does not tell it.
 */
export async function readAges(target: Target, queueNames: readonly string[]): Promise<readonly (number | null)[]> {
  const cloudWatch = target.connect(CloudWatchClient);
  const now = target.clock.now();
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

/** A line of a function's log: its fields, and when it was written in milliseconds since the epoch. */
export interface LoggedLine {
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Returns the value of a field; nothing where it is no text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The logs of the functions that deliver, as far as an id is looked for. */
export type EventLog = Pick<ReturnType<typeof openEventLog>, 'keptSince' | 'find'>;

/** The values of which each field has one. None may hold a quotation mark. */
type FieldFilters = Readonly<Record<string, readonly string[]>>;

/** Opens the log groups of the functions that deliver, which are searched as one. */
export function openEventLog(target: Target, interruption?: AbortSignal) {
  const client = target.connect(CloudWatchLogsClient, 'LogsEndpoint');
  const { clock, pause } = target;
  const logGroupNames = requireOutput(target, 'DeliveryLogGroups').split(',');

  const groupKeptSince = async (logGroupName: string): Promise<number> => {
    const answer = await client.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: logGroupName }));
    const group = answer.logGroups?.find(found => found.logGroupName === logGroupName);
    if (!group) throw new CliError(`There is no log group ${logGroupName}. Deploy this version first.`);
    const { creationTime = 0, retentionInDays } = group;
    return retentionInDays === undefined ? creationTime : Math.max(creationTime, clock.now() - retentionInDays * day);
  };

  return {
    /** Returns the time of the oldest lines that are kept. Milliseconds since the epoch. */
    keptSince: async () => Math.min(...(await Promise.all(logGroupNames.map(groupKeptSince)))),

    /**
     * Returns the latest lines since then that contain an id, the newest first.
     *
     * @throws {CliError} where it is no id: what else stands there would be a part of the query.
     */
    find: async (id: string, since: number, progress: ShowProgress) => {
      if (!/^[A-Za-z0-9+/_=-]{1,128}$/.test(id))
        throw new CliError('This is not an id: an id has at most 128 letters, digits, "-", "_", "+", "/" or "=".');
      // Two of these mean something else in a regular expression.
      return search(`filter @message like /${id.replaceAll(/[+/]/g, '\\$&')}/`, since, maxLines, progress);
    },

    /** Returns the latest lines since then whose fields have one of the values, the newest first. */
    filter: (filters: FieldFilters, since: number, most: number, progress: ShowProgress) => {
      const named = Object.entries(filters).map(([field, values]) => {
        const list = values.map(value => JSON.stringify(value)).join(', ');
        return `filter ${field} in [${list}]`;
      });
      return search(named.join(' | '), since, most, progress);
    },
  };

  async function search(
    filters: string,
    since: number,
    limit: number,
    progress: ShowProgress,
  ): Promise<readonly LoggedLine[]> {
    const started = await client.send(
      new StartQueryCommand({
        logGroupNames,
        startTime: Math.floor(since / 1_000),
        endTime: Math.ceil(clock.now() / 1_000),
        queryString: `fields @timestamp, @message | ${filters} | sort @timestamp desc`,
        limit,
      }),
    );
    for (;;) {
      interruption?.throwIfAborted();
      const { status, results, statistics } = await client.send(
        new GetQueryResultsCommand({ queryId: started.queryId }),
      );
      if (status === 'Complete') return (results ?? []).flatMap(readLine);
      if (status !== 'Scheduled' && status !== 'Running') {
        throw new CliError(
          `The log could not be searched: the query ended as ${status ?? 'unknown'}. Try again with a later --since.`,
        );
      }
      progress(`Searching the log: ${statistics?.recordsScanned ?? 0} lines so far`);
      await pause(pace);
    }
  }
}

const day = 86_400_000;

/** The most lines of one id: its attempts, and its copies. */
const maxLines = 200;

/** Parses a line of our logger; lines of others are left out. */
function readLine(row: readonly ResultField[]): LoggedLine[] {
  const cell = (name: string) => row.find(({ field }) => field === name)?.value ?? '';
  try {
    const fields: unknown = JSON.parse(cell('@message'));
    if (typeof fields !== 'object' || fields === null) return [];
    return [{ at: Date.parse(`${cell('@timestamp').replace(' ', 'T')}Z`), fields: { ...fields } }];
  } catch {
    return [];
  }
}

/** Results of CloudWatch Logs Insights are polled at this interval. Milliseconds. */
const pace = 500;
