import { type Client, clientKey, parseClient } from '../../lambdas/auth/principals/client.ts';
import { parseUser, type User, userKey } from '../../lambdas/auth/principals/user.ts';
import { sessionEndReason } from '../../lambdas/auth/sessions/active-session.ts';
import { isExpired, type Session } from '../../lambdas/auth/sessions/session.ts';
import type { SessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import { batchGet } from '../../lambdas/platform/aws/batch-get.ts';
import { CliError } from '../stage/operator.ts';
import { openClients, openSessions, openUsers } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import type { SessionOwner } from '../stores/session-list.ts';
import { findUser } from './users.ts';

/** The options that identify the owner of sessions. */
interface OwnerOptions {
  /** The e-mail address or id of a user. */
  readonly user?: string;
  readonly client?: string;
}

/** Selects the sessions to list. */
interface ListOptions extends OwnerOptions {
  /** True to include ended sessions. */
  readonly all?: boolean;
  readonly limit?: number;
  /** The last session id of the previous list. */
  readonly after?: string;
}

/** A session with its user and its state. */
export interface SessionState {
  readonly session: Session;
  readonly user: User | undefined;
  /** The reason why the session has ended, or `undefined` if it is live. */
  readonly endedBy: string | undefined;
}

/**
 * Lists sessions, by default the first 100 live ones.
 * @throws {CliError} if the owner does not exist, or `after` is not a session of the owner.
 */
export async function listSessions(target: Target, options: ListOptions) {
  const owner = await ownerOf(target, options);
  const store = openSessions(target);
  if (options.after !== undefined && !(await isPossibleSessionOf(owner, options.after, store.findSession))) {
    const whose = 'userId' in owner ? 'user' : 'client';
    throw new CliError(`"${options.after}" is not a session of that ${whose}. Set --after to the last session shown.`);
  }
  const limit = options.limit ?? pageSize;
  const states: SessionState[] = [];
  let after = options.after;
  let isMore = true;
  while (isMore && states.length < limit) {
    const page = await store.listSessions(owner, pageSize, after);
    const matching = (await inspectSessions(target, page.sessions)).filter(
      ({ session, endedBy }) =>
        (options.all === true || endedBy === undefined) &&
        (options.client === undefined || session.clientId === options.client),
    );
    states.push(...matching);
    after = page.next;
    isMore = after !== undefined;
  }
  const sessions = states.slice(0, limit);
  const next = isMore || states.length > limit ? (sessions.at(-1)?.session.sessionId ?? after) : undefined;
  return { sessions, next };
}

/** Returns the owner of the sessions. @throws {CliError} if the user or client does not exist. */
export async function ownerOf(target: Target, { user, client }: OwnerOptions): Promise<SessionOwner> {
  if (user !== undefined) return { userId: (await findUser(openUsers(target), user)).userId };
  if (!(await openClients(target).findClient(client ?? ''))) throw noClient(client);
  return { clientId: client ?? '' };
}

export function noClient(clientId: string | undefined): CliError {
  return new CliError(`There is no client "${clientId}". "clients list" shows all clients.`);
}

/** Returns whether a session may belong to the owner. A deleted session may belong to any client. */
async function isPossibleSessionOf(
  owner: SessionOwner,
  sessionId: string,
  findSession: SessionStore['findSession'],
): Promise<boolean> {
  if ('userId' in owner) return sessionId.startsWith(`${owner.userId}-`);
  const session = await findSession(sessionId);
  return session ? session.clientId === owner.clientId : /^[0-9A-Za-z]+-[0-9A-Za-z]+$/.test(sessionId);
}

/** The number of sessions in one read, and the default limit. */
const pageSize = 100;

/** Returns the states of sessions. Reads each user and client only once. */
export async function inspectSessions(target: Target, sessions: readonly Session[]): Promise<SessionState[]> {
  const dynamo = target.dynamo;
  const [users, clients] = [requireOutput(target, 'UsersTable'), requireOutput(target, 'ClientsTable')];
  const userIds = [...new Set(sessions.map(({ userId }) => userId))];
  const clientIds = [...new Set(sessions.map(({ clientId }) => clientId))];
  const [userItems, clientItems] = await Promise.all([
    batchGet(
      dynamo,
      userIds.map(id => userKey(users, id)),
    ),
    batchGet(
      dynamo,
      clientIds.map(id => clientKey(clients, id)),
    ),
  ]);
  const now = target.clock.now();
  return sessions.map(session => {
    const user = parseUser(userItems[userIds.indexOf(session.userId)]);
    const client = parseClient(clientItems[clientIds.indexOf(session.clientId)]);
    return { session, user, endedBy: endOf(client, user, session, now) };
  });
}

function endOf(client: Client | undefined, user: User | undefined, session: Session, now: number): string | undefined {
  if (session.revokedFor !== undefined) return session.revokedFor;
  if (isExpired(session, now)) return 'expiry';
  if (!client) return 'client_gone';
  if (client.status !== 'enabled') return 'client_disabled';
  if (!user) return 'user_gone';
  const reason = sessionEndReason(client, user, session);
  if (reason !== 'session_ended') return reason;
  // A new password, disabling the user or "sessions end" changes the user's version. A change of account changes the client's version.
  return user.version === session.userVersion ? 'ended_for_the_client' : 'ended_for_the_user';
}
