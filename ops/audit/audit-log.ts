import { userInfo } from 'node:os';
import {
  CloudWatchLogsClient,
  CreateLogStreamCommand,
  DescribeLogStreamsCommand,
  GetLogEventsCommand,
  PutLogEventsCommand,
  paginateDescribeLogStreams,
} from '@aws-sdk/client-cloudwatch-logs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import * as z from 'zod';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { CliError, isNamed } from '../stage/operator.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** The target of a command. It contains only known ids, never an e-mail address, a name or a secret. */
export interface Subject {
  readonly client?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly account?: string | undefined;
  readonly event?: string | undefined;
  readonly delivery?: string | undefined;
  readonly replay?: string | undefined;
  readonly messages?: readonly string[] | undefined;
  /** The release that a rollback selects. `functions` lists the changed functions with their versions. */
  readonly release?: string | undefined;
  readonly functions?: readonly string[] | undefined;
  /** The kinds of keys, with the created and deleted generations. */
  readonly keys?: readonly string[] | undefined;
  readonly table?: string | undefined;
  /** The criterion that selects the items, such as a kind or a reason, if the command receives no ids. */
  readonly all?: string | undefined;
  /** The number of changed items. */
  readonly count?: number | undefined;
  /** The first accounts, if a command affects several. */
  readonly accounts?: readonly string[] | undefined;
  readonly users?: readonly string[] | undefined;
}

/** The kinds of targets that may need several lines. */
export type TargetKind = 'messages' | 'users';

/** The requested changes by option name, such as roles, scopes and times. They never include a secret, name or address. */
export type Change = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An audit line about an operator's command. */
export type AuditRecord = z.output<typeof auditLine>;

/** The newest line of a command, with the targets from its further lines. */
export interface CommandWithTargets extends AuditRecord {
  readonly parts: readonly AuditRecord['target'][];
}

export type StartedLine = Awaited<ReturnType<ReturnType<typeof openAuditLog>['start']>>;

/** Opens the target's audit trail, a log group with a stream for each day. @throws {CliError} if the target has none. */
export function openAuditLog(target: Target) {
  const { clock, connect, makeId } = target;
  const logs = connect(CloudWatchLogsClient, 'LogsEndpoint');
  const logGroupName = requireOutput(target, 'AuditLogGroup');

  async function write(line: AuditRecord): Promise<void> {
    const timestamp = clock.now();
    const logStreamName = streamOf(timestamp);
    const logEvents = [{ timestamp, message: JSON.stringify(line) }];
    const put = () => logs.send(new PutLogEventsCommand({ logGroupName, logStreamName, logEvents }));
    const response = await put().catch(async error => {
      if (!isNamed(error, 'ResourceNotFoundException')) throw error;
      await createStream(logStreamName);
      return put();
    });
    if (response.rejectedLogEventsInfo) {
      throw new CliError("CloudWatch Logs rejected the audit line because of its time. Correct this machine's clock.");
    }
  }

  /** Returns the ARN of the caller. A local run accepts any credentials, so its caller is the user of this machine. */
  async function findCaller(): Promise<string> {
    if (target.outputs.LogsEndpoint !== undefined) {
      await logs.send(new DescribeLogStreamsCommand({ logGroupName, limit: 1 }));
      return `local:${userInfo().username}`;
    }
    const { Arn } = await connect(STSClient).send(new GetCallerIdentityCommand({}));
    if (Arn !== undefined) return Arn;
    throw new CliError(
      'Could not determine the caller identity (sts:GetCallerIdentity returned no ARN). Sign in again.',
    );
  }

  async function createStream(logStreamName: string): Promise<void> {
    try {
      await logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName }));
    } catch (error) {
      if (!isNamed(error, 'ResourceAlreadyExistsException')) throw error; // another command created this stream first
    }
  }

  return {
    start: async function startLine(command: string, subject: Subject, change: Change = {}) {
      const caller = await findCaller(); // the response also corrects the clock
      const started: AuditRecord = {
        message: 'operator.started',
        id: makeId(22),
        at: isoTime(clock.now()),
        caller,
        command,
        target: toTarget(subject),
        ...(Object.values(change).some(value => value !== undefined) && { change: definedValues(change) }),
        outcome: 'started',
      };
      await write(started);
      let pending: { readonly kind: TargetKind; readonly ids: string[] } = { kind: 'messages', ids: [] };

      /** Writes a further line with targets that did not fit in the first line. */
      function continueLine(subject: Subject): Promise<void> {
        const [id, target] = [makeId(22), toTarget(subject)];
        return write({ ...started, message: 'operator.continued', id, target, of: started.id, outcome: 'done' });
      }

      /** Writes a further line with the targets collected so far. */
      async function flush(): Promise<void> {
        const { kind, ids } = pending;
        pending = { kind, ids: [] };
        if (ids.length > 0) await continueLine({ [kind]: ids });
      }

      return {
        continue: continueLine,
        /** Collects an id. Writes a further line whenever `maxListed` ids are collected. */
        collect: async (kind: TargetKind, id: string): Promise<void> => {
          pending = { kind, ids: [...pending.ids, id] };
          if (pending.ids.length === maxListed) await flush();
        },
        flush,
        /** Writes the last line with the outcome. It contains the name of an error but not its message. */
        complete: (outcome: 'done' | 'failed', more: Subject, error?: unknown): Promise<void> =>
          write({
            ...started,
            message: 'operator.ended',
            target: { ...started.target, ...toTarget(more) },
            outcome,
            endedAt: isoTime(clock.now()),
            ...(error instanceof Error ? { errorName: error.name } : {}),
          }),
      };
    },

    /**
     * Returns at most `limit` commands since a time, newest first, with the targets from their further lines. If there are
     * too many lines to read, `onCutOff` receives the time of the oldest line that was read.
     */
    list: async function listCommands(
      since: number,
      limit: number,
      onCutOff: (readBackTo: number) => void = () => {},
    ): Promise<readonly CommandWithTargets[]> {
      const latest = new Map<string, AuditRecord>();
      const parts = new Map<string, AuditRecord['target'][]>();
      const open = new Set<string>(); // commands whose first line has not been read, and which may have further lines
      let read = 0;
      for await (const { line, at } of newestFirst(logs, logGroupName, since)) {
        const { id, of, target } = line;
        if (read++ === limit * linesPerCommand) {
          onCutOff(at);
          break;
        }
        if (of !== undefined) {
          const collected = parts.get(of);
          if (collected) collected.push(target);
          else parts.set(of, [target]);
        } else if (!latest.has(id) && latest.size < limit) {
          latest.set(id, line); // the last line of a command is read before its first line
          if (line.outcome !== 'started') open.add(id);
        } else open.delete(id);
        if (latest.size === limit && open.size === 0) break;
      }
      return [...latest.values()].map(line => ({ ...line, parts: (parts.get(line.id) ?? []).toReversed() }));
    },
  };
}

/** The maximum number of lines read per requested command. A command writes one line per 100 users or messages. */
const linesPerCommand = 200;

const auditLine = z.object({
  message: z.enum(['operator.started', 'operator.continued', 'operator.ended']),
  id: z.string(),
  /** The id of the first line, if this is a further line. */
  of: z.string().optional(),
  at: z.string(),
  /** The ARN of the caller, or the user of this machine for a local run. */
  caller: z.string(),
  command: z.string(),
  target: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())])),
  change: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
  /** `started` if the command was killed or is still running. */
  outcome: z.enum(['started', 'done', 'failed']),
  endedAt: z.string().optional(),
  errorName: z.string().optional(),
});

/** Returns the ids for an audit line. Omits message ids that do not have the format of SQS. */
function toTarget({ messages, ...subject }: Subject): AuditRecord['target'] {
  return definedValues<string | number>({ ...subject, messages: messages?.filter(id => uuid.test(id)) });
}

/** Returns the defined values of a subject or a change. Shortens long lists. */
function definedValues<Value extends string | number | boolean>(
  values: Readonly<Record<string, Value | readonly string[] | undefined>>,
): Record<string, Value | string[]> {
  const defined: Record<string, Value | string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) defined[name] = typeof value === 'object' ? value.slice(0, maxListed) : value;
  }
  return defined;
}

/** The format of SQS message ids. Any other text that an operator types is not logged. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The maximum number of ids per kind in a line. */
export const maxListed = 100;

/** Reads the lines day by day, newest first. */
async function* newestFirst(logs: CloudWatchLogsClient, logGroupName: string, since: number) {
  for await (const logStreamName of latestStreams(logs, logGroupName)) {
    if (logStreamName < streamOf(since)) return;
    let token: string | undefined;
    for (;;) {
      const { events = [], nextBackwardToken } = await logs.send(
        new GetLogEventsCommand({
          logGroupName,
          logStreamName,
          startTime: since,
          startFromHead: false,
          ...(token === undefined ? {} : { nextToken: token }),
        }),
      );
      for (const { message = '', timestamp: at = since } of events.toReversed()) {
        for (const line of parseLine(message)) yield { line, at };
      }
      if (nextBackwardToken === token || nextBackwardToken === undefined) break; // CloudWatch repeats it at the end
      token = nextBackwardToken;
    }
  }
}

async function* latestStreams(client: CloudWatchLogsClient, logGroupName: string): AsyncGenerator<string> {
  const request = { logGroupName, orderBy: 'LogStreamName', descending: true } as const;
  for await (const { logStreams = [] } of paginateDescribeLogStreams({ client }, request)) {
    for (const { logStreamName = '' } of logStreams) yield logStreamName;
  }
}

/** Parses a line. Returns an empty list for lines from other programs. */
function parseLine(text: string): readonly AuditRecord[] {
  try {
    const parsed = auditLine.safeParse(JSON.parse(text));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

/** Returns the name of the stream for a day in UTC, such as `2026-11-23`. */
function streamOf(time: number): string {
  return isoTime(time).slice(0, 10);
}
