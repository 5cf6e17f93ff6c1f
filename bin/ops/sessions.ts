import type { Command } from 'commander';
import { type Client, clientKey, parseClient } from '../../lambdas/auth/principals/client.ts';
import { parseUser, type User, userKey } from '../../lambdas/auth/principals/user.ts';
import { sessionFault } from '../../lambdas/auth/sessions/active-session.ts';
import { isExpired, type Session } from '../../lambdas/auth/sessions/session.ts';
import type { SessionOwner } from '../../lambdas/auth/sessions/session-list.ts';
import { CliError } from './cli-error.ts';
import { afterOption, limitOption, notEmpty } from './option-values.ts';
import { iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import { requireOutput, type Target } from './target.ts';
import { yesOption } from './terminal.ts';
import { findUser } from './users.ts';

/** Adds `sessions`. */
export function addSessions(program: Command, run: Run): void {
  const sessions = program
    .command('sessions')
    .description('logins and the tokens that come of them: list, end')
    .addHelpText('after', examples);

  ownerOptions(
    sessions.command('list').description('list live sessions of a user, of a client, or of a user at a client'),
  )
    .option('--all', 'show those that are over too, as long as they are kept')
    .addOption(limitOption())
    .addOption(afterOption('session'))
    .addHelpText('after', examples)
    .action((options: ListOptions, command: Command) => {
      if (options.user === undefined && options.client === undefined) {
        command.error('error: name whose sessions: --user or --client (or both)');
      }
      return run(command, target => list(target, options));
    });

  ownerOptions(sessions.command('end').description('end one session, or all of a user or a client, for good'))
    .argument('[session-id]', 'as list shows it', notEmpty)
    .addOption(yesOption().hideHelp()) // nothing is asked: accepted for scripts that give it to all that ends something
    .addHelpText('after', examples)
    .action((sessionId: string | undefined, options: OwnerOptions, command: Command) => {
      if ([sessionId, options.user, options.client].filter(named => named !== undefined).length !== 1) {
        command.error('error: name what to end: one session id, --user or --client');
      }
      return run(command, target => (sessionId === undefined ? endAll(target, options) : endOne(target, sessionId)));
    });
}

const examples = `
A session is one login with all tokens that come of it. A user is named by e-mail address or user id.

Examples:
  npm run ops -- sessions list --user ana@acme.com.br
  npm run ops -- sessions end --client 4f6Kq...
  npm run ops -- sessions end 8sYfTzR4uWcJe7HbnQ2m0p-XkD1nVb8sYfTzR4uWcJe7H`;

function ownerOptions(command: Command): Command {
  return command
    .option('--user <user>', 'sessions of this user', notEmpty)
    .option('--client <client-id>', 'sessions that began through this client', notEmpty);
}

interface ListOptions extends OwnerOptions {
  readonly all?: boolean;
  readonly limit?: number;
  readonly after?: string;
}

async function list(target: Target, options: ListOptions): Promise<Report> {
  const { openSessions } = await import('./stores.ts');
  const owner = await ownerOf(target, options);
  if ('userId' in owner && options.after?.startsWith(`${owner.userId}-`) === false) {
    throw new CliError(`"${options.after}" is no session of that user: --after takes the last one that was shown.`);
  }
  const { listSessions } = openSessions(target);
  const limit = options.limit ?? pageSize;
  const found: SessionState[] = [];
  let after = options.after;
  let isMore = true;
  while (isMore && found.length < limit) {
    const page = await listSessions(owner, pageSize, after);
    const wanted = (await inspect(target, page.sessions)).filter(
      ({ session, endedBy }) =>
        (options.all === true || endedBy === undefined) &&
        (options.client === undefined || session.clientId === options.client),
    );
    found.push(...wanted);
    after = page.next;
    isMore = after !== undefined;
  }
  const shown = found.slice(0, limit);
  const columns = [
    { heading: 'SESSION', cell: ({ session }: SessionState) => session.sessionId },
    { heading: 'USER', cell: ({ user, session }: SessionState) => user?.email ?? session.userId },
    { heading: 'CLIENT', cell: ({ session }: SessionState) => session.clientId },
    { heading: 'BEGAN', cell: ({ session }: SessionState) => iso(session.createdAt) ?? '-' },
    { heading: 'LAST USED', cell: ({ session }: SessionState) => iso(session.rotatedAt) ?? '-' },
    { heading: 'STATE', cell: ({ endedBy }: SessionState) => (endedBy === undefined ? 'live' : `ended: ${endedBy}`) },
  ];
  const more =
    isMore || found.length > limit ? `\n\nThere may be more: --after ${shown.at(-1)?.session.sessionId ?? after}` : '';
  return { json: shown.map(view), text: `${table(shown, columns, 'No such sessions.')}${more}` };
}

interface OwnerOptions {
  /** E-mail address or id. */
  readonly user?: string;
  readonly client?: string;
}

async function endAll(target: Target, options: OwnerOptions): Promise<Report> {
  const { openClients, openUsers } = await import('./stores.ts');
  const owner = await ownerOf(target, options);
  if ('userId' in owner) {
    const user = await openUsers(target).endUserSessions(owner.userId);
    if (!user) throw new CliError(`there is no user "${options.user}": "users list" shows them.`);
    const text = `Every session of ${user.email} is over.`;
    return { json: { userId: user.userId, ended: true }, text };
  }
  const client = await openClients(target).endClientSessions(owner.clientId);
  if (!client) throw new CliError(`there is no client "${options.client}": "clients list" shows them.`);
  const text = `Every session of client ${client.clientId} (${client.name}) is over.`;
  return { json: { clientId: client.clientId, ended: true }, text };
}

async function endOne(target: Target, sessionId: string): Promise<Report> {
  const { openSessions } = await import('./stores.ts');
  const { findSession, revokeSession } = openSessions(target);
  if (!(await findSession(sessionId))) {
    throw new CliError(`there is no session "${sessionId}": "sessions list --user EMAIL" shows them.`);
  }
  await revokeSession(sessionId, 'operator', Date.now());
  const ended = await findSession(sessionId);
  const [state] = ended ? await inspect(target, [ended]) : [];
  return { json: state ? view(state) : { sessionId, state: 'ended' }, text: `Session ${sessionId} is over.` };
}

async function ownerOf(target: Target, { user, client }: OwnerOptions): Promise<SessionOwner> {
  const { openClients, openUsers } = await import('./stores.ts');
  if (user !== undefined) return { userId: (await findUser(openUsers(target), user)).userId };
  if (!(await openClients(target).findClient(client ?? ''))) {
    throw new CliError(`there is no client "${client}": "clients list" shows them.`);
  }
  return { clientId: client ?? '' };
}

/** How many are read at once, and shown unless a limit says otherwise. */
const pageSize = 100;

/** A session with what its life depends on. */
interface SessionState {
  readonly session: Session;
  readonly user: User | undefined;
  /** Why it is over; `undefined` while it lives. */
  readonly endedBy: string | undefined;
}

/** Reads the users and clients of sessions, each once. */
async function inspect(target: Target, sessions: readonly Session[]): Promise<SessionState[]> {
  const [{ connectDynamo }, { readTogether }] = await Promise.all([
    import('./stores.ts'),
    import('../../lambdas/platform/dynamo.ts'),
  ]);
  const dynamo = connectDynamo(target);
  const [users, clients] = [requireOutput(target, 'UsersTable'), requireOutput(target, 'ClientsTable')];
  const userIds = [...new Set(sessions.map(({ userId }) => userId))];
  const clientIds = [...new Set(sessions.map(({ clientId }) => clientId))];
  const [userItems, clientItems] = await Promise.all([
    readTogether(
      dynamo,
      userIds.map(id => userKey(users, id)),
    ),
    readTogether(
      dynamo,
      clientIds.map(id => clientKey(clients, id)),
    ),
  ]);
  return sessions.map(session => {
    const user = parseUser(userItems[userIds.indexOf(session.userId)]);
    const client = parseClient(clientItems[clientIds.indexOf(session.clientId)]);
    return { session, user, endedBy: endOf(client, user, session) };
  });
}

function view({ session, user, endedBy }: SessionState) {
  return {
    sessionId: session.sessionId,
    userId: session.userId,
    email: user?.email ?? null,
    clientId: session.clientId,
    accountId: session.accountId,
    scope: session.scope,
    state: endedBy === undefined ? 'live' : 'ended',
    endedBy: endedBy ?? null,
    createdAt: iso(session.createdAt),
    lastUsedAt: iso(session.rotatedAt),
    expiresAt: iso(Math.min(session.idleExpiresAt, session.absoluteExpiresAt)),
  };
}

function endOf(client: Client | undefined, user: User | undefined, session: Session): string | undefined {
  if (session.revokedFor !== undefined) return session.revokedFor;
  if (isExpired(session, Date.now())) return 'expiry';
  if (!client) return 'client_gone';
  if (client.status !== 'enabled') return 'client_disabled';
  return sessionFault(client, user, session);
}
