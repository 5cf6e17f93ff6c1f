import { type Clock, isoTime } from './clock.ts';
import type { LogName } from './log-names.ts';

/** Writes log lines. `message` is the stable name of a line, and `fields` contains its details. */
export type Log = Readonly<Record<'info' | 'warn' | 'error', (message: LogName, fields?: LogFields) => void>>;

/**
 * Creates the log of a function, which has one JSON object per line. Lines are billed by size, so they omit the function and the version,
 * which the names of the log group and the stream contain. Only warnings and errors contain the invocation id. Every line contains the
 * request id, which the caller also receives. `LOG_LEVEL` is the minimum level (ADR 14).
 */
export function makeLog(service: string, now: Clock) {
  const minRank = ranks[process.env.LOG_LEVEL ?? ''] ?? 0;
  let invocationId: string | undefined;
  let requestId: string | undefined;
  let traceId: string | undefined;
  const log: Log = { info: writer('INFO'), warn: writer('WARN'), error: writer('ERROR') };
  return { log, startInvocation };

  /** Sets the invocation of the following lines and, for an HTTP API, the request id of the gateway. */
  function startInvocation({ awsRequestId }: { readonly awsRequestId: string }, gatewayRequestId?: string): void {
    invocationId = awsRequestId;
    requestId = gatewayRequestId;
    traceId = sampledTrace.exec(process.env._X_AMZN_TRACE_ID ?? '')?.[1];
  }

  function writer(level: Level): Log['info'] {
    if ((ranks[level] ?? 0) < minRank) return () => undefined;
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

/** The fields of a line. `describeError` returns the loggable fields of an error. */
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

/** Matches the trace header of a sampled invocation. */
const sampledTrace = /^Root=([0-9a-f-]{35});.*\bSampled=1\b/;

function isLogged(value: Loggable): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Serializes a line. If JSON cannot represent a value, which the types forbid, serializes only the main fields. */
function toJson(line: Record<string, Loggable>): string {
  try {
    return JSON.stringify(line);
  } catch {
    const { level, message, timestamp, service } = line;
    return JSON.stringify({ level, message, timestamp, service, errorName: 'NotLoggable' });
  }
}
