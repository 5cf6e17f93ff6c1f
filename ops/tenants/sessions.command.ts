import { command, type Noun } from '../audit/command.ts';
import { flag, option, optionalArgument } from '../command-line/arg-spec.ts';
import { principalId, sessionId, userReference, wholeNumber } from '../command-line/forms.ts';
import { iso, makeFormatter } from '../command-line/report.ts';
import { CliError } from '../stage/operator.ts';
import { openClients, openSessions, openUsers } from '../stage/stores.ts';
import type { Target } from '../stage/target.ts';
import { inspectSessions, listSessions, noClient, ownerOf, type SessionState } from './sessions.ts';
import { noUser } from './users.ts';

const examples = `
A session is one login, with all tokens that were issued for it. Specify a user by e-mail address or user id.

Examples:
  npm run ops -- sessions list --user ana@acme.com.br
  npm run ops -- sessions end --client 4f6KqXkD1nVb8sYfTzR4uW
  npm run ops -- sessions end 8sYfTzR4uWcJe7HbnQ2m0p-XkD1nVb8sYfTzR4uWcJe7H`;

const ofOwner = {
  user: option('<user>', 'sessions of this user', userReference),
  client: option('<client-id>', 'sessions of this client', principalId),
};

const session = makeFormatter<SessionState>([
  { json: 'sessionId', heading: 'session', value: ({ session }) => session.sessionId },
  { json: 'userId', value: ({ session }) => session.userId },
  {
    json: 'email',
    heading: 'user',
    value: ({ user }) => user?.email,
    text: ({ user, session }) => user?.email ?? session.userId,
  },
  { json: 'clientId', heading: 'client', value: ({ session }) => session.clientId },
  { json: 'accountId', value: ({ session }) => session.accountId },
  { json: 'scope', value: ({ session }) => session.scope },
  { json: 'state', value: ({ endedBy }) => (endedBy === undefined ? 'live' : 'ended') },
  { json: 'endedBy' },
  { json: 'createdAt', heading: 'started', value: ({ session }) => iso(session.createdAt) },
  { json: 'lastUsedAt', heading: 'last used', value: ({ session }) => iso(session.rotatedAt) },
  {
    json: 'expiresAt',
    value: ({ session }) => iso(Math.min(session.idleExpiresAt, session.absoluteExpiresAt)),
  },
  { heading: 'state', value: ({ endedBy }) => (endedBy === undefined ? 'live' : `ended: ${endedBy}`) },
]);

const list = command('sessions list', {
  description: 'list live sessions of a user, of a client, or of a user with one client',
  notes: examples,
  args: {
    ...ofOwner,
    all: flag('also show ended sessions that are still stored'),
    limit: option('<n>', 'show at most n sessions', wholeNumber(1, 100_000)),
    after: option('<id>', 'continue after this session, the last one on the previous page', sessionId),
  },
  validate: ({ user, client }) =>
    user === undefined && client === undefined && 'Specify the owner of the sessions with --user, --client or both.',
  effect: 'reads',
  act: ({ target }, options) => listSessions(target, options),
  report: ({ sessions, next }) => {
    const { json, text } = session.list('No such sessions.')(sessions);
    return { json, text: next === undefined ? text : `${text}\n\nFor more sessions, add --after ${next}` };
  },
});

const end = command('sessions end', {
  description: 'permanently end one session, or all sessions of a user or a client',
  notes: examples,
  args: { ...ofOwner, session: optionalArgument('session-id', 'the id of the session', sessionId) },
  validate: args =>
    Object.values(args).filter(value => value !== undefined).length !== 1 &&
    'Specify exactly one session id, --user or --client.',
  effect: 'writes',
  act: async ({ target, confirm }, { session: id, ...owner }) => {
    if (id !== undefined) {
      if (!(await openSessions(target).findSession(id))) {
        throw new CliError(`There is no session "${id}". "sessions list --user EMAIL" shows the sessions of a user.`);
      }
      await confirm(`This permanently ends session ${id} of ${target.label} with all its tokens.`);
      return endOne(target, id);
    }
    const ids = await ownerOf(target, owner);
    const whose = owner.user === undefined ? `client ${owner.client}` : `user ${owner.user}`;
    await confirm(`This permanently ends every session of ${whose} of ${target.label}.`);
    return 'userId' in ids ? endOfUser(target, ids.userId, owner.user ?? '') : endOfClient(target, ids.clientId);
  },
  subject: async ({ target }, { session: id, ...owner }) => {
    if (id !== undefined) return { session: (await openSessions(target).findSession(id))?.sessionId };
    const ids = await ownerOf(target, owner);
    return 'userId' in ids ? { user: ids.userId } : { client: ids.clientId };
  },
  report: ({ json, what }) => ({ json, text: `${what} has ended.` }),
});

export const sessions: Noun = {
  name: 'sessions',
  description: 'logins and their tokens: list, end',
  notes: examples,
  commands: [list, end],
};

async function endOne(target: Target, sessionId: string) {
  const { findSession, revokeSession } = openSessions(target);
  await revokeSession(sessionId, 'operator', target.clock.now());
  const ended = await findSession(sessionId);
  const [state] = ended ? await inspectSessions(target, [ended]) : [];
  // The session may have been deleted in the meantime.
  return { json: state ? session.json(state) : { sessionId, state: 'ended' }, what: `Session ${sessionId}` };
}

async function endOfUser(target: Target, userId: string, reference: string) {
  const user = await openUsers(target).endUserSessions(userId);
  if (!user) throw noUser(reference);
  return { json: { userId, ended: true }, what: `Every session of ${user.email}` };
}

async function endOfClient(target: Target, clientId: string) {
  const client = await openClients(target).endClientSessions(clientId);
  if (!client) throw noClient(clientId);
  return { json: { clientId, ended: true }, what: `Every session of client ${clientId} (${client.name})` };
}
