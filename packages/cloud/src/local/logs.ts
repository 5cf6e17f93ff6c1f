import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Emulator, type Interceptor, type Operation, ServiceError, startAwsJsonService } from './emulator.ts';
import { type MatchesQuery, parseLogQuery } from './log-query.ts';

/** Emulates CloudWatch Logs: what the functions wrote in this run, for programs to search, and streams that programs write. */
export interface LogService extends Emulator {
  put(group: string, line: string): void;
}

/** A line that a function or a program wrote, and when. Milliseconds since the epoch. */
interface StoredLine {
  readonly at: number;
  readonly text: string;
  /** The stream of a line that a program wrote. */
  readonly stream?: string | undefined;
}

/** The lines of log groups, each with its latest. */
export interface LogStore {
  put(group: string, text: string, stream?: string): void;
  /** The groups with lines whose name begins so. */
  groups(prefix: string): readonly string[];
  /** The moment from which on all lines of a group are kept. */
  since(group: string): number;
  /** The lines of groups in a span that match a query, the newest first. */
  find(groups: readonly string[], matches: MatchesQuery, from: number, to: number): readonly StoredLine[];
  /** The lines of a stream, the oldest first. */
  read(group: string, stream: string): readonly StoredLine[];
}

/** Starts the emulator on a free port of 127.0.0.1. */
export async function startLogs(interceptors: readonly Interceptor[] = []): Promise<LogService> {
  const store = makeLogStore(keptLines);
  const service = await startAwsJsonService('logs', makeOperations(store), interceptors, 'InvalidParameterException');
  return { ...service, put: store.put };
}

/** Makes a store in memory. It keeps at least `least` lines of each group, and at most twice as many. */
export function makeLogStore(least: number, now: () => number = Date.now): LogStore {
  const startedAt = now();
  const groups = new Map<string, { lines: StoredLine[]; since: number }>();
  return {
    put: (name, text, stream) => {
      const group = groups.get(name) ?? { lines: [], since: startedAt };
      groups.set(name, group);
      group.lines.push({ at: now(), text, stream });
      if (group.lines.length <= 2 * least) return;
      group.lines = group.lines.slice(-least);
      group.since = group.lines[0]?.at ?? startedAt;
    },
    groups: prefix => [...groups.keys()].filter(name => name.startsWith(prefix)),
    since: name => groups.get(name)?.since ?? startedAt,
    find: (names, matches, from, to) =>
      names
        .flatMap(name => groups.get(name)?.lines ?? [])
        .filter(line => line.at >= from && line.at <= to && matches(line.text))
        .reverse()
        .toSorted((one, other) => other.at - one.at),
    read: (name, stream) => groups.get(name)?.lines.filter(line => line.stream === stream) ?? [],
  };
}

/** Lines of a log group that a run keeps. */
const keptLines = 20_000;

function makeOperations(store: LogStore): Readonly<Record<string, Operation>> {
  const queries = new Map<string, readonly StoredLine[]>();
  return {
    DescribeLogGroups: input => {
      const { logGroupNamePrefix: named } = z.object({ logGroupNamePrefix: z.string() }).parse(input);
      const names = new Set([named, ...store.groups(named)]); // a group needs no line to be there
      return { logGroups: [...names].map(name => ({ logGroupName: name, creationTime: store.since(name) })) };
    },
    StartQuery: input => {
      const { logGroupNames, startTime, endTime, queryString, limit } = queryInput.parse(input);
      const matches = parseLogQuery(queryString);
      const queryId = randomUUID();
      queries.set(
        queryId,
        store.find(logGroupNames, matches, startTime * 1_000, endTime * 1_000 + 999).slice(0, limit),
      );
      const [oldest] = queries.keys();
      if (queries.size > keptQueries && oldest !== undefined) queries.delete(oldest);
      return { queryId };
    },
    GetQueryResults: input => {
      const lines = queries.get(resultsInput.parse(input).queryId);
      if (!lines) throw new ServiceError('ResourceNotFoundException', 'There is no such query.');
      const statistics = { recordsMatched: lines.length, recordsScanned: lines.length, bytesScanned: 0 };
      return { status: 'Complete', results: lines.map(rowOf), statistics };
    },
    ...streamOperations(store),
  };
}

/** Streams that programs write and read. A group needs not be made: whichever is named is there. */
function streamOperations(store: LogStore): Readonly<Record<string, Operation>> {
  const streams = new Map<string, Set<string>>();
  const streamsOf = (group: string) => streams.get(group) ?? new Set();
  const existing = ({ logGroupName, logStreamName }: z.output<typeof streamInput>): void => {
    if (streamsOf(logGroupName).has(logStreamName)) return;
    throw new ServiceError('ResourceNotFoundException', 'The specified log stream does not exist.');
  };
  return {
    CreateLogStream: input => {
      const { logGroupName, logStreamName } = streamInput.parse(input);
      const known = streamsOf(logGroupName);
      if (known.has(logStreamName)) {
        throw new ServiceError('ResourceAlreadyExistsException', 'The specified log stream already exists.');
      }
      streams.set(logGroupName, known.add(logStreamName));
      return {};
    },
    PutLogEvents: input => {
      const { logEvents, ...place } = putInput.parse(input);
      existing(place);
      for (const { message } of logEvents) store.put(place.logGroupName, message, place.logStreamName);
      return {};
    },
    DescribeLogStreams: input => {
      const { logGroupName, descending } = streamsInput.parse(input);
      const names = [...streamsOf(logGroupName)].sort();
      return { logStreams: (descending ? names.reverse() : names).map(logStreamName => ({ logStreamName })) };
    },
    GetLogEvents: input => {
      const { startTime, limit, nextToken, ...place } = eventsInput.parse(input);
      existing(place);
      const lines = store.read(place.logGroupName, place.logStreamName).filter(({ at }) => at >= startTime);
      const to = nextToken === undefined ? lines.length : Number(nextToken);
      const from = Math.max(to - limit, 0);
      const events = lines.slice(from, to).map(({ at, text }) => ({ timestamp: at, message: text }));
      return { events, nextBackwardToken: `${from}` };
    },
  };
}

const streamInput = z.object({ logGroupName: z.string(), logStreamName: z.string() });

const putInput = streamInput.extend({ logEvents: z.array(z.object({ timestamp: z.number(), message: z.string() })) });

const streamsInput = z.object({ logGroupName: z.string(), descending: z.boolean().default(false) });

/** The latest lines, or those before the ones that a token ends: reading from the head is not emulated. */
const eventsInput = streamInput.extend({
  startFromHead: z.literal(false),
  startTime: z.number().default(0),
  limit: z.number().default(10_000),
  nextToken: z.string().regex(/^\d+$/).optional(),
});

const queryInput = z.object({
  logGroupNames: z.array(z.string()),
  /** Seconds since the epoch, both included. */
  startTime: z.number(),
  endTime: z.number(),
  queryString: z.string(),
  limit: z.number().default(1_000),
});

/** Queries whose results can still be fetched. */
const keptQueries = 100;

const resultsInput = z.object({ queryId: z.string() });

function rowOf({ at, text }: StoredLine) {
  return [
    { field: '@timestamp', value: timestamp(at) },
    { field: '@message', value: text },
  ];
}

/** `2026-11-21 17:00:00.000`, in UTC. */
function timestamp(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').replace('Z', '');
}
