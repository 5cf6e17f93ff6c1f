import { type Clock, isoTime } from './clock.ts';
import type { LogName } from './log-names.ts';

/** Writes lines of the log. `message` is a stable name; what it is about stands in `fields`, one by one. */
export type Log = Readonly<Record<'info' | 'warn' | 'error', (message: LogName, fields?: LogFields) => void>>;

/**
 * Makes the log of a function: one JSON object a line. What the log group tells anyway (the function and its version) is in no
 * line, and the id of the invocation only where something failed: most of what a line costs is its bytes. A request's own id is in
 * every line: its caller was told it. `LOG_LEVEL` names the least level that is written (ADR 14).
 */
export function makeLog(service: string, now: Clock) {
  const least = ranks[process.env.LOG_LEVEL ?? ''] ?? 0;
  let invocationId: string | undefined;
  let requestId: string | undefined;
  let traceId: string | undefined;
  const log: Log = { info: writer('INFO'), warn: writer('WARN'), error: writer('ERROR') };
  return { log, beginInvocation };

  /** Notes the invocation that further lines belong to, and the gateway's id of its request where it is one of an HTTP API. */
  function beginInvocation({ awsRequestId }: { readonly awsRequestId: string }, gatewayRequestId?: string): void {
    invocationId = awsRequestId;
    requestId = gatewayRequestId;
    traceId = sampledTrace.exec(process.env._X_AMZN_TRACE_ID ?? '')?.[1];
  }

  function writer(level: Level): Log['info'] {
    if ((ranks[level] ?? 0) < least) return () => undefined;
    return function write(message, fields = {}) {
      const line: Record<string, Loggable> = { level, message, timestamp: isoTime(now()), service };
      for (const name in fields) if (isLogged(fields[name]) && !Object.hasOwn(line, name)) line[name] = fields[name];
      line.requestId = requestId;
      if (level !== 'INFO') line.function_request_id = invocationId;
      line.xray_trace_id = traceId;
      process.stdout.write(`${toJson(line)}\n`);
    };
  }
}

/** The fields of a line. An error is none of them: `describeError` tells what of it may be logged. */
interface LogFields {
  readonly [name: string]: Loggable;
}

type Loggable =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Loggable[]
  | { readonly [name: string]: Loggable };

type Level = 'INFO' | 'WARN' | 'ERROR';

const ranks: Readonly<Record<string, number>> = { INFO: 1, WARN: 2, ERROR: 3 };

/** The trace that an invocation belongs to, where it is recorded. */
const sampledTrace = /^Root=([0-9a-f-]{35});.*\bSampled=1\b/;

function isLogged(value: Loggable): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** The types forbid what JSON cannot hold; should it come all the same, the line tells at least what happened. */
function toJson(line: Record<string, Loggable>): string {
  try {
    return JSON.stringify(line);
  } catch {
    const { level, message, timestamp, service } = line;
    return JSON.stringify({ level, message, timestamp, service, errorName: 'NotLoggable' });
  }
}
