import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import { listenOnLoopback, type ServiceStandIn } from '../loopback-server.ts';
import { type KeptLine, makeKeptLines } from './kept-lines.ts';

/** The stand-in for CloudWatch Logs: what the functions wrote in this run, for the operator's command line to search. */
export interface LogService extends ServiceStandIn {
  put(group: string, line: string): void;
}

/** Starts the stand-in on a free port of 127.0.0.1; it speaks AWS JSON 1.1, as the SDK's client does. */
export async function startLogs(): Promise<LogService> {
  const { put, operations } = makeOperations();

  const perform = async (request: IncomingMessage): Promise<object> => {
    const name = String(request.headers['x-amz-target']).replace(/^Logs_20140328\./, '');
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (!operation) throw new LogsError(`The local cloud does not know ${name}.`);
    return operation(await json(request));
  };

  const server = createServer((request, response) => {
    const respond = (status: number, body: object) =>
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
    perform(request).then(
      output => respond(200, output),
      error => respond(400, { __type: 'InvalidParameterException', message: String(error.message) }),
    );
  });
  const { port, stop } = await listenOnLoopback(server);
  return { endpoint: `http://127.0.0.1:${port}`, stop, put };
}

function makeOperations() {
  const kept = makeKeptLines(mostLines);
  const queries = new Map<string, readonly KeptLine[]>();

  const startQuery = (input: unknown) => {
    const { logGroupNames, startTime, endTime, queryString, limit } = queryInput.parse(input);
    const [, text = ''] = /@message like "([^"]*)"/.exec(queryString) ?? [];
    const queryId = randomUUID();
    queries.set(queryId, kept.find(logGroupNames, text, startTime * 1_000, endTime * 1_000 + 999).slice(0, limit));
    const [oldest] = queries.keys();
    if (queries.size > mostQueries && oldest !== undefined) queries.delete(oldest);
    return { queryId };
  };

  const operations: Readonly<Record<string, (input: unknown) => object>> = {
    DescribeLogGroups: input => {
      const { logGroupNamePrefix: logGroupName } = describeInput.parse(input);
      return { logGroups: [{ logGroupName, creationTime: kept.since(logGroupName) }] };
    },
    StartQuery: startQuery,
    GetQueryResults: input => {
      const lines = queries.get(resultsInput.parse(input).queryId);
      if (!lines) throw new LogsError('There is no such query.');
      const statistics = { recordsMatched: lines.length, recordsScanned: lines.length, bytesScanned: 0 };
      return { status: 'Complete', results: lines.map(rowOf), statistics };
    },
  };
  return { put: kept.put, operations };
}

class LogsError extends Error {}

/** Lines of a function that a run remembers. */
const mostLines = 20_000;

const queryInput = z.object({
  logGroupNames: z.array(z.string()),
  /** Seconds since the epoch, both included. */
  startTime: z.number(),
  endTime: z.number(),
  /** Of the query language the run knows one sentence: which text the message holds. */
  queryString: z.string().regex(/@message like "[^"]*"/),
  limit: z.number().default(1_000),
});

/** Queries whose results nobody has fetched yet. */
const mostQueries = 100;

const describeInput = z.object({ logGroupNamePrefix: z.string() });
const resultsInput = z.object({ queryId: z.string() });

function rowOf({ at, text }: KeptLine) {
  return [
    { field: '@timestamp', value: timestamp(at) },
    { field: '@message', value: text },
  ];
}

/** `2026-11-21 17:00:00.000`, in UTC. */
function timestamp(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').replace('Z', '');
}
