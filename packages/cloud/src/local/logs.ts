import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { ServiceError } from '../service-error.ts';
import { type Emulator, type Interceptor, type Operation, startAwsJsonService } from './emulator.ts';

/** A CloudWatch Logs emulator. It contains the output of the functions and the streams that programs write. */
export interface LogService extends Emulator {
  /** Adds a line that a function wrote. */
  put(group: string, line: string): void;
}

interface StoredLine {
  /** The time in milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  /** The log stream, if a program wrote the line. */
  readonly stream?: string;
}

/** Starts the emulator on a free port of 127.0.0.1. For each log group, it stores at least the latest `minLines` lines and at most twice as many. */
export async function startLogs(interceptors: readonly Interceptor[] = [], minLines = 20_000): Promise<LogService> {
  const startedAt = Date.now();
  const groups = new Map<string, { lines: StoredLine[]; since: number }>();
  const queries = new Map<string, readonly StoredLine[]>();
  const streams = new Map<string, Set<string>>();
  const operations: Readonly<Record<string, Operation>> = {
    DescribeLogGroups: input => {
      const { logGroupNamePrefix: prefix } = z.object({ logGroupNamePrefix: z.string() }).parse(input);
      const names = new Set([prefix, ...groups.keys()]); // a log group exists even without lines
      const groupNames = [...names].filter(name => name.startsWith(prefix));
      return {
        logGroups: groupNames.map(name => ({ logGroupName: name, creationTime: groups.get(name)?.since ?? startedAt })),
      };
    },
    StartQuery: input => {
      const { logGroupNames, startTime, endTime, queryString, limit } = queryInput.parse(input);
      const matches = parseLogQuery(queryString);
      const lines = logGroupNames
        .flatMap(name => groups.get(name)?.lines ?? [])
        .filter(({ at, text }) => at >= startTime * 1_000 && at < (endTime + 1) * 1_000 && matches(text))
        .reverse()
        .toSorted((one, other) => other.at - one.at);
      const queryId = randomUUID();
      queries.set(queryId, lines.slice(0, limit));
      return { queryId };
    },
    GetQueryResults: input => {
      const { queryId } = z.object({ queryId: z.string() }).parse(input);
      const lines = queries.get(queryId);
      if (!lines) throw new ServiceError('ResourceNotFoundException', 'The query does not exist.');
      queries.delete(queryId);
      return { status: 'Complete', results: lines.map(rowOf), statistics: { recordsScanned: lines.length } };
    },
    CreateLogStream: input => {
      const { logGroupName, logStreamName } = streamInput.parse(input);
      const names = streams.get(logGroupName) ?? new Set();
      if (names.has(logStreamName)) {
        throw new ServiceError('ResourceAlreadyExistsException', 'The specified log stream already exists.');
      }
      streams.set(logGroupName, names.add(logStreamName));
      return {};
    },
    PutLogEvents: input => {
      const { logEvents, ...target } = putInput.parse(input);
      requireStream(target);
      for (const { message } of logEvents) add(target.logGroupName, { text: message, stream: target.logStreamName });
      return {};
    },
    DescribeLogStreams: input => {
      const { logGroupName, descending } = streamsInput.parse(input);
      const names = [...(streams.get(logGroupName) ?? [])].sort();
      return { logStreams: (descending ? names.reverse() : names).map(logStreamName => ({ logStreamName })) };
    },
    GetLogEvents: input => {
      const { startTime, limit, nextToken, ...target } = eventsInput.parse(input);
      requireStream(target);
      const groupLines = groups.get(target.logGroupName)?.lines ?? [];
      const lines = groupLines.filter(({ at, stream }) => stream === target.logStreamName && at >= startTime);
      const to = nextToken === undefined ? lines.length : Number(nextToken);
      const from = Math.max(to - limit, 0);
      const events = lines.slice(from, to).map(({ at, text }) => ({ timestamp: at, message: text }));
      return { events, nextBackwardToken: `${from}` };
    },
  };
  const service = await startAwsJsonService('logs', operations, interceptors, 'InvalidParameterException');
  return { ...service, put: (group, text) => add(group, { text }) };

  function add(name: string, line: Omit<StoredLine, 'at'>): void {
    const group = groups.get(name) ?? { lines: [], since: startedAt };
    groups.set(name, group);
    group.lines.push({ at: Date.now(), ...line });
    if (group.lines.length <= 2 * minLines) return;
    group.lines = group.lines.slice(-minLines);
    group.since = group.lines[0]?.at ?? startedAt;
  }

  function requireStream({ logGroupName, logStreamName }: z.output<typeof streamInput>): void {
    if (streams.get(logGroupName)?.has(logStreamName)) return;
    throw new ServiceError('ResourceNotFoundException', 'The specified log stream does not exist.');
  }
}

const streamInput = z.object({ logGroupName: z.string(), logStreamName: z.string() });

const putInput = streamInput.extend({ logEvents: z.array(z.object({ message: z.string() })) });

const streamsInput = z.object({ logGroupName: z.string(), descending: z.boolean().default(false) });

/** Reading from the head is not emulated, so `startFromHead` must be false. */
const eventsInput = streamInput.extend({
  startFromHead: z.literal(false),
  startTime: z.number().default(0),
  limit: z.number().default(10_000),
  nextToken: z.string().regex(/^\d+$/).optional(),
});

const queryInput = z.object({
  logGroupNames: z.array(z.string()),
  /** The times are inclusive, in seconds since the epoch. */
  startTime: z.number(),
  endTime: z.number(),
  queryString: z.string(),
  limit: z.number().default(1_000),
});

function rowOf({ at, text }: StoredLine) {
  const value = new Date(at).toISOString().replace('T', ' ').replace('Z', ''); // in UTC
  return [
    { field: '@timestamp', value },
    { field: '@message', value: text },
  ];
}

/**
 * Parses the filters of a Logs Insights query. Other commands have no effect. Results contain the time and the text of lines.
 *
 * @throws {ServiceError} if a filter is not emulated, because ignoring it would return too many lines
 */
function parseLogQuery(query: string): (line: string) => boolean {
  const filters = query
    .split(/\s*\|\s*(?=(?:fields|filter|sort)\b)/)
    .filter(command => command.startsWith('filter'))
    .map(parseFilter);
  return line => filters.every(matches => matches(line));
}

function parseFilter(filter: string): (line: string) => boolean {
  const { text } = messageFilter.exec(filter)?.groups ?? {};
  if (text !== undefined) return line => line.includes(text.replaceAll(/\\(.)/g, '$1'));
  const { field = '', values } = fieldFilter.exec(filter)?.groups ?? {};
  if (values === undefined) {
    throw new ServiceError('MalformedQueryException', `This filter is not emulated: ${filter}`);
  }
  const allowed: unknown[] = JSON.parse(values);
  return line => allowed.includes(fieldOf(line, field));
}

/** Matches a filter by message text. The text is a regular expression without special characters. */
const messageFilter = /^filter @message like \/(?<text>(?:[^/\\]|\\.)*)\/$/;

/** Matches a filter by the values of a field. */
const fieldFilter = /^filter (?<field>\w+) in (?<values>\["[^"]*"(?:, ?"[^"]*")*\])$/;

/** Returns a field of a JSON line as text. */
function fieldOf(line: string, field: string): string | undefined {
  try {
    const { [field]: value } = Object(JSON.parse(line));
    return value === undefined ? undefined : String(value);
  } catch {
    return undefined;
  }
}
