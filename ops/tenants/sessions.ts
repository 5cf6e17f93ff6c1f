import { type Client, clientKey, parseClient } from '../../lambdas/auth/principals/client.ts';
import { parseUser, type User, userKey } from '../../lambdas/auth/principals/user.ts';
import { sessionEndReason } from '../../lambdas/auth/sessions/active-session.ts';
import { isExpired, type Session } from '../../lambdas/auth/sessions/session.ts';
import type { SessionOwner } from '../../lambdas/auth/sessions/session-list.ts';
import type { SessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import { batchGet } from '../../lambdas/platform/aws/batch-get.ts';
import { reads, writes } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { openClients, openSessions, openUsers } from '../stage/stores.ts';
import { requireOutput, type Target, type Task } from '../stage/target.ts';
import { findUser, unlessRefused } from './users.ts';

/** The operators' actions on sessions. */
export const actions = {
  listSessions: reads(listSessions),
  endAllSessions: writes('sessions end', endAllSessions, {
    before: async ({ target }, owner) => {
      const found = await ownerOf(target, owner);
      return 'userId' in found ? { user: found.userId } : { client: found.clientId };
    },
  }),
  endSession: writes('sessions end', endSession, {
    before: async ({ target }, sessionId) => ({
      session: (await openSessions(target).findSession(sessionId))?.sessionId,
    }),
  }),
};

/** The options that name the owner of sessions. */
export interface OwnerOptions {
  /** E-mail address or id. */
  readonly user?: string;
  readonly client?: string;
}

/** The choice of sessions to list. */
export interface ListOptions extends OwnerOptions {
  /** Ended ones too. */
  readonly all?: boolean;
  readonly limit?: number;
  /** The last one that is known. */
  readonly after?: string;
}

/** A session and its user, and whether it has ended. */
export interface SessionState {
  readonly session: Session;
  readonly user: User | undefined;
  /** The reason why it has ended; `undefined` while it is live. */
  readonly endedBy: string | undefined;
}

/** A part of a list of sessions. `next` is where the next part may begin. */
export interface SessionStates {
  readonly sessions: readonly SessionState[];
  readonly next: string | undefined;
}

/** The user or client whose sessions were ended. */
export type EndedOwner = { readonly user: User } | { readonly client: Client };

/** A session that was ended; its state is missing where it was deleted meanwhile. */
export interface EndedSession {
  readonly sessionId: string;
  readonly state: SessionState | undefined;
}

/**
 * Lists sessions, by default the first hundred live ones.
 *
 * @throws {CliError} where the owner does not exist, or `after` is no session of theirs.
 */
async function listSessions({ target }: Task, options: ListOptions): Promise<SessionStates> {
  const owner = await ownerOf(target, options);
  const store = openSessions(target);
  if (options.after !== undefined && !(await mayBeSessionOf(owner, options.after, store.findSession))) {
    const whose = 'userId' in owner ? 'user' : 'client';
    throw new CliError(`"${options.after}" is no session of that ${whose}: --after takes the last one that was shown.`);
  }
  const limit = options.limit ?? pageSize;
  const found: SessionState[] = [];
  let after = options.after;
  let isMore = true;
  while (isMore && found.length < limit) {
    const page = await store.listSessions(owner, pageSize, after);
    const wanted = (await inspect(target, page.sessions)).filter(
      ({ session, endedBy }) =>
        (options.all === true || endedBy === undefined) &&
        (options.client === undefined || session.clientId === options.client),
    );
    found.push(...wanted);
    after = page.next;
    isMore = after !== undefined;
  }
  const sessions = found.slice(0, limit);
  const next = isMore || found.length > limit ? (sessions.at(-1)?.session.sessionId ?? after) : undefined;
  return { sessions, next };
}

/** Ends all sessions of a user or a client. @throws {CliError} where the owner does not exist, or nobody confirmed. */
async function endAllSessions({ target, confirm }: Task, options: OwnerOptions): Promise<EndedOwner> {
  const owner = await ownerOf(target, options);
  const whose = options.user === undefined ? `client ${options.client}` : `user ${options.user}`;
  await confirm(`This ends every session of ${whose} of ${target.label}.`);
  if ('userId' in owner) {
    const user = await unlessRefused(owner.userId, openUsers(target).endUserSessions(owner.userId));
    if (!user) throw new CliError(`there is no user "${options.user}": "users list" shows them.`);
    return { user };
  }
  const client = await openClients(target).endClientSessions(owner.clientId);
  if (!client) throw new CliError(`there is no client "${options.client}": "clients list" shows them.`);
  return { client };
}

/** Ends one session. @throws {CliError} where there is no such session, or nobody confirmed. */
async function endSession({ target, confirm }: Task, sessionId: string): Promise<EndedSession> {
  const { findSession, revokeSession } = openSessions(target);
  if (!(await findSession(sessionId))) {
    throw new CliError(`there is no session "${sessionId}": "sessions list --user EMAIL" shows them.`);
  }
  await confirm(`This ends session ${sessionId} of ${target.label} with all its tokens.`);
  await revokeSession(sessionId, 'operator', target.clock.now());
  const ended = await findSession(sessionId);
  const [state] = ended ? await inspect(target, [ended]) : [];
  return { sessionId, state };
}

async function ownerOf(target: Target, { user, client }: OwnerOptions): Promise<SessionOwner> {
  if (user !== undefined) return { userId: (await findUser(openUsers(target), user)).userId };
  if (!(await openClients(target).findClient(client ?? ''))) {
    throw new CliError(`there is no client "${client}": "clients list" shows them.`);
  }
  return { clientId: client ?? '' };
}

/** Returns whether a session may be one of the owner's. A session that is deleted by now counts as one of any client. */
async function mayBeSessionOf(
  owner: SessionOwner,
  sessionId: string,
  findSession: SessionStore['findSession'],
): Promise<boolean> {
  if ('userId' in owner) return sessionId.startsWith(`${owner.userId}-`);
  const session = await findSession(sessionId);
  return session ? session.clientId === owner.clientId : /^[0-9A-Za-z]+-[0-9A-Za-z]+$/.test(sessionId);
}

/** Sessions that are read at once, and shown unless a limit says otherwise. */
const pageSize = 100;

/** Reads the users and clients of sessions, each once. */
async function inspect(target: Target, sessions: readonly Session[]): Promise<SessionState[]> {
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
  // the user's for a new password, a disabled user or "sessions end"; the client's for these, or another account
  return user.version === session.userVersion ? 'ended_for_the_client' : 'ended_for_the_user';
}
