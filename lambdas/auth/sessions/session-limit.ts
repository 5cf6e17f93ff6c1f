import { DeleteCommand, type DynamoDBDocumentClient, QueryCommand } from '../../platform/aws/documents.ts';
import { conditionalWrite, type Item } from '../../platform/aws/dynamo.ts';
import { conditionOf, expression } from '../../platform/aws/update-item.ts';
import type { Clock } from '../../platform/clock.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { type ActiveSession, asActiveSession } from './active-session.ts';
import { parseSession, type Session, sessionKey } from './session.ts';

/** Keeps a user's sessions at one client to about 200. */
export type SessionLimit = ReturnType<typeof makeSessionLimit>;

/** The number of a user's sessions at a client that stay, the new one among them. */
export const sessionsPerClient = 200;

/**
 * Makes the limit of a user's sessions at one client, over table `Sessions` (partition `userId`, range `sessionId`): a client that
 * logs in for each request must not fill the table. One login in twenty counts them, so that the others make no further call.
 */
export function makeSessionLimit({
  dynamo,
  table,
  log,
  now,
  random,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly log: Log;
  readonly now: Clock;
  /** Draws from [0, 1). */
  readonly random: () => number;
}) {
  return { drawFirstNumber, apply };

  /** Draws the number of a user's first login through a client: which of each twenty logins counts depends on it. */
  function drawFirstNumber(): number {
    return Math.floor(random() * loginsPerCount) + 1;
  }

  /**
   * Counts the user's sessions at the client, if the login of that number has to, and ends those beyond the limit: the longest
   * unused first, never the new one. Best effort: a login neither fails by it nor waits long.
   */
  async function apply(loginNumber: number, login: ActiveSession): Promise<void> {
    if (loginNumber % loginsPerCount !== 0) return;
    const { clientId, userId } = login.session;
    const abortSignal = AbortSignal.timeout(longestWait);
    try {
      const surplus = surplusOf(await readOthers(login.session, abortSignal), login, now());
      if (surplus.length === 0) return;
      await Promise.all(surplus.map(session => deleteUnused(session, abortSignal)));
      log.info('sessions.limited', { clientId, userId, ended: surplus.length });
    } catch (error) {
      log.error('sessions.not_limited', { clientId, userId, ...describeError(error) });
    }
  }

  /** Reads the other sessions of the user at the client, or some of them where they are very many. */
  async function readOthers({ userId, clientId, sessionId }: Session, abortSignal: AbortSignal): Promise<Session[]> {
    const found: Session[] = [];
    let start: Item | undefined;
    for (let page = 0; page < maxPages && found.length < enough; page++) {
      const command = new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'userId = :user',
        FilterExpression: 'clientId = :client',
        ExpressionAttributeValues: { ':user': userId, ':client': clientId },
        Limit: pageSize,
        ExclusiveStartKey: start,
      });
      const { Items = [], LastEvaluatedKey } = await dynamo.send(command, { abortSignal });
      found.push(...Items.map(parseSession).filter(session => session !== undefined));
      if (!LastEvaluatedKey) break;
      start = LastEvaluatedKey;
    }
    return found.filter(session => session.sessionId !== sessionId);
  }

  /** Deletes a session unless it was used since it was read. */
  async function deleteUnused({ sessionId, counter }: Session, abortSignal: AbortSignal): Promise<void> {
    const command = new DeleteCommand({
      TableName: table,
      Key: sessionKey(table, sessionId).key,
      ...conditionOf(expression`counter = ${counter}`),
    });
    await conditionalWrite(dynamo.send(command, { abortSignal }));
  }
}

const loginsPerCount = 20;

/** Milliseconds. What is not done by then, a later login does. */
const longestWait = 1_000;

/** Sessions of the user that one Query looks at, whatever their client; of the client, `enough` are worked on. */
const pageSize = 1_000;
const maxPages = 4;
const enough = 500;

/** Five times what is new since the last count, so that any number comes down to the limit. */
const maxDeletions = 100;

/** Returns the sessions to delete: of live ones those beyond the limit, the longest unused first; then ended ones without room. */
function surplusOf(sessions: readonly Session[], { client, user }: ActiveSession, now: number): readonly Session[] {
  const isLive = (session: Session) => asActiveSession(client, user, session, now) !== undefined;
  const byLastUse = sessions.toSorted((one, other) => other.rotatedAt - one.rotatedAt);
  const live = byLastUse.filter(isLive);
  const ended = byLastUse.filter(session => !isLive(session));
  const room = sessionsPerClient - 1; // beside the new one
  const surplus = [...live.slice(room).toReversed(), ...ended.slice(Math.max(room - live.length, 0)).toReversed()];
  return surplus.slice(0, maxDeletions);
}
