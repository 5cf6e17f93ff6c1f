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

/** Reads at most 100 alarms for each stack in a stage. CloudFormation names alarms after their stack. */
export async function readAlarms(target: Target) {
  if (!target.deployed) throw new CliError(`${target.label} has no CloudWatch alarms. Specify a stage with --stage.`);
  const cloudWatch = target.connect(CloudWatchClient);
  const responses = await Promise.all(
    target.deployed.stacks.map(({ stackName }) =>
      cloudWatch.send(new DescribeAlarmsCommand({ AlarmNamePrefix: `${stackName}-`, MaxRecords: 100 })),
    ),
  );
  const alarms = responses.flatMap(({ MetricAlarms = [] }) => MetricAlarms);
  const firing = alarms
    .filter(({ StateValue }) => StateValue === 'ALARM')
    .map(({ AlarmName = '', AlarmDescription = '', StateUpdatedTimestamp }) => ({
      name: AlarmName,
      since: StateUpdatedTimestamp?.toISOString() ?? null,
      description: AlarmDescription,
    }));
  return { total: alarms.length, isCutOff: responses.some(({ NextToken }) => NextToken !== undefined), firing };
}

/**
 * Reads the age of each queue's oldest message in seconds. The age is CloudWatch's latest value from the last 10 minutes, or
 * `null` if CloudWatch has no value. SQS itself does not return the age.
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

/** A line of a function's log. `at` is its time in milliseconds since the epoch. */
export interface LoggedLine {
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Returns the value of a field if it is a string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The functions of the event log that search for an id. */
export type EventLog = Pick<ReturnType<typeof openEventLog>, 'retainedSince' | 'find'>;

/** The accepted values of each field. Values must not contain a quotation mark. */
type FieldFilters = Readonly<Record<string, readonly string[]>>;

/** Opens the log groups of the delivery functions. A search covers all of them. */
export function openEventLog(target: Target, interruption?: AbortSignal) {
  const client = target.connect(CloudWatchLogsClient, 'LogsEndpoint');
  const { clock, pause } = target;
  const logGroupNames = requireOutput(target, 'DeliveryLogGroups').split(',');

  const groupRetainedSince = async (logGroupName: string): Promise<number> => {
    const response = await client.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: logGroupName }));
    const group = response.logGroups?.find(found => found.logGroupName === logGroupName);
    if (!group) throw new CliError(`There is no log group ${logGroupName}. Deploy this version first.`);
    const { creationTime = 0, retentionInDays } = group;
    return retentionInDays === undefined ? creationTime : Math.max(creationTime, clock.now() - retentionInDays * day);
  };

  return {
    /** Returns the start of the log retention, in milliseconds since the epoch. */
    retainedSince: async () => Math.min(...(await Promise.all(logGroupNames.map(groupRetainedSince)))),

    /**
     * Returns the latest lines since a time that contain an id, newest first.
     * @throws {CliError} if the text is not an id, because other text could change the query.
     */
    find: async (id: string, since: number, progress: ShowProgress) => {
      if (!/^[A-Za-z0-9+/_=-]{1,128}$/.test(id))
        throw new CliError('Invalid id. An id consists of 1 to 128 letters, digits, "-", "_", "+", "/" or "=".');
      // "+" and "/" need escapes in a regular expression.
      return search(`filter @message like /${id.replaceAll(/[+/]/g, '\\$&')}/`, since, maxLines, progress);
    },

    /** Returns at most `limit` lines since a time with an accepted value in each field, newest first. */
    filter: (filters: FieldFilters, since: number, limit: number, progress: ShowProgress) => {
      const conditions = Object.entries(filters).map(([field, values]) => {
        const list = values.map(value => JSON.stringify(value)).join(', ');
        return `filter ${field} in [${list}]`;
      });
      return search(conditions.join(' | '), since, limit, progress);
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
          `Could not search the log (the query ended with status ${status ?? 'unknown'}). Try again with a later --since.`,
        );
      }
      progress(`Searching the log: ${statistics?.recordsScanned ?? 0} lines so far`);
      await pause(pollInterval);
    }
  }
}

const day = 86_400_000;

/** The maximum number of lines about one id, including lines about its attempts and copies. */
const maxLines = 200;

/** Parses a line from Emissor's logger. Returns an empty list for other lines. */
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

/** The polling interval for CloudWatch Logs Insights. In milliseconds. */
const pollInterval = 500;
