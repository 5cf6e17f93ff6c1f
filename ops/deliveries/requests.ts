import { isoTime } from '../../lambdas/platform/clock.ts';
import { reads } from '../audit/audit.ts';
import { type LoggedLine, openLogs } from '../stage/cloudwatch.ts';
import { CliError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';

/** The operators' questions about requests to the two hosts. */
export const actions = { findRequest: reads(findRequest) };

/** A request, as the logs tell it. */
export interface FoundRequest {
  readonly requestId: string;
  /** The gateway's line; `undefined` where it is not in its log, or not yet. */
  readonly access: LoggedLine | undefined;
  /** The lines of the function that answered, the oldest first. */
  readonly lines: readonly LoggedLine[];
  /** The moment from which the logs were searched. Milliseconds since the epoch. */
  readonly logSince: number;
}

/**
 * Finds the lines of a request in the access logs and in those of the functions behind them.
 *
 * @param since - the logs are searched no further back than this, in milliseconds since the epoch.
 * @throws {CliError} where there is no line.
 */
async function findRequest(
  { target, progress }: Task,
  requestId: string,
  { since = target.clock.now() - searchedBack }: { readonly since?: number },
): Promise<FoundRequest> {
  const logs = openLogs(target, logOutputs);
  const logSince = Math.max(await logs.keptSince(), since);
  progress(`Searching the logs since ${isoTime(logSince)}`);
  const found = (await logs.find(requestId, logSince, progress)).filter(({ fields }) => fields.requestId === requestId);
  if (found.length === 0) {
    throw new CliError(
      `no line of request "${requestId}" in the logs since ${isoTime(logSince)}: it came before that (--since), to another stage, or a moment ago (the logs follow within a minute or so).`,
    );
  }
  const isAccess = ({ fields }: LoggedLine) => 'sourceIp' in fields;
  const lines = found.filter(line => !isAccess(line)).toSorted((one, other) => one.at - other.at);
  return { requestId, access: found.find(isAccess), lines, logSince };
}

/** Fourteen days, in milliseconds. */
const searchedBack = 14 * 86_400_000;

/** The outputs that name the log groups of requests: of the gateway, and of the functions that answer them. */
const logOutputs = ['AccessLogGroups', 'AuthLogGroups', 'WebhooksLogGroups', 'DeliveriesApiLogGroups'];
