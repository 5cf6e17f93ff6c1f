import { DeleteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/aws/batch-get.ts';
import { conditionalWrite, type StoreParts } from '../../platform/aws/dynamo.ts';
import { conditionOf, expression } from '../../platform/aws/update-item.ts';

import { describeError, type Log } from '../../platform/telemetry.ts';
import { type After, withDeadline } from '../../platform/timer.ts';
import { type ActiveSession, asActiveSession } from './active-session.ts';
import { parseSession, type Session, sessionIdPrefix, sessionKey } from './session.ts';

export type SessionLimit = ReturnType<typeof makeSessionLimit>;

/** The number of a user's sessions at a client that stay, the new one among them. */
export const sessionsPerClient = 200;

/**
 * Makes the limit of a user's sessions at one client, over table `Sessions` (partition `userId`, range `sessionId`) and its index
 * `byClient` (partition `clientId`, range `sessionId`, keys only): a client that logs in for each request must not fill the table. One
 * login in twenty counts them, so that the others make no further call.
 */
export function makeSessionLimit({
  dynamo,
  table,
  log,
  now,
  after,
  random,
}: StoreParts & {
  readonly log: Log;
  /** Draws from [0, 1). */
  readonly random: () => number;
  readonly after: After;
}) {
  return { drawFirstNumber, apply };

  /** Draws the number of a user's first login through a client: which of each twenty logins counts depends on it. */
  function drawFirstNumber(): number {
    return Math.floor(random() * loginsPerCount) + 1;
  }

  /**
   * Counts the user's sessions at the client, if the login of that number has to, and ends those beyond the limit, never the new
   * one. Best effort: a login neither fails by it nor waits long.
   */
  async function apply(loginNumber: number, login: ActiveSession): Promise<void> {
    if (loginNumber % loginsPerCount !== 0) return;
    const { clientId, userId } = login.session;
    try {
      const ended = await withDeadline(after, longestWait, signal => endSurplus(login, signal));
      if (ended > 0) log.info('sessions.limited', { clientId, userId, ended });
    } catch (error) {
      log.error('sessions.not_limited', { clientId, userId, ...describeError(error) });
    }
  }

  /** Returns how many sessions it ended. */
  async function endSurplus(login: ActiveSession, abortSignal: AbortSignal): Promise<number> {
    const surplus = surplusOf(await readOthers(login.session, abortSignal), login, now());
    await Promise.all(surplus.map(session => deleteUnused(session, abortSignal)));
    return surplus.length;
  }

  /** Reads the other sessions of the user at the client, or some of them where they are very many; none where there is room. */
  async function readOthers({ userId, clientId, sessionId }: Session, abortSignal: AbortSignal): Promise<Session[]> {
    const command = new QueryCommand({
      TableName: table,
      IndexName: 'byClient',
      KeyConditionExpression: 'clientId = :client AND begins_with(sessionId, :user)',
      ExpressionAttributeValues: { ':client': clientId, ':user': sessionIdPrefix(userId) },
      Limit: mostRead,
    });
    const { Items = [] } = await dynamo(command, { abortSignal });
    const keys = Items.map(item => String(item.sessionId))
      .filter(id => id !== sessionId)
      .map(id => sessionKey(table, id));
    if (keys.length < sessionsPerClient) return [];
    const items = await batchGet(dynamo, keys, { abortSignal });
    return items.flatMap(item => parseSession(item) ?? []);
  }

  /** Deletes a session unless it was used since it was read. */
  async function deleteUnused({ sessionId, counter }: Session, abortSignal: AbortSignal): Promise<void> {
    const command = new DeleteCommand({
      TableName: table,
      Key: sessionKey(table, sessionId).key,
      ...conditionOf(expression`counter = ${counter}`),
    });
    await conditionalWrite(dynamo(command, { abortSignal }));
  }
}

const loginsPerCount = 20;

/** Milliseconds. What is not done by then, a later login does. */
const longestWait = 1_000;

/** Five times what is new since the last count, so that any number comes down to the limit. */
const maxDeletions = 100;

/** With this many sessions a count finds as many to delete as it may, and keeps the limit. */
const mostRead = sessionsPerClient + maxDeletions;

/** Returns the sessions to delete: of live ones those beyond the limit; then ended ones without room. */
function surplusOf(sessions: readonly Session[], { client, user }: ActiveSession, now: number): readonly Session[] {
  const isLive = (session: Session) => asActiveSession(client, user, session, now) !== undefined;
  const byWorth = sessions.toSorted(
    (one, other) => worthOf(other, now - hour) - worthOf(one, now - hour) || other.rotatedAt - one.rotatedAt,
  );
  const live = byWorth.filter(isLive);
  const ended = byWorth.filter(session => !isLive(session));
  const room = sessionsPerClient - 1; // beside the new one
  const surplus = [...live.slice(room).toReversed(), ...ended.slice(Math.max(room - live.length, 0)).toReversed()];
  return surplus.slice(0, maxDeletions);
}

/**
 * Returns the rank of a session: those of the last ranks go first, of each rank the longest unused first. One that was never refreshed
 * may be of a login that nobody got an answer to: it goes before those that were. Yet one of the last hour may be in use by its
 * first access token, and goes after those that nobody used since: a user's old sessions must not end every new one.
 */
function worthOf({ counter, rotatedAt }: Session, since: number): number {
  const isRecent = rotatedAt > since;
  const isRefreshed = counter > 1;
  return (isRecent ? 2 : 0) + (isRefreshed ? 1 : 0);
}

/** Milliseconds. */
const hour = 3_600_000;
