import type { Command } from 'commander';
import { afterOption, clientId, limitOption, sessionId, userReference } from '../command-line/option-values.ts';
import { iso, makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { EndedOwner, EndedSession, ListOptions, OwnerOptions, SessionState, SessionStates } from './sessions.ts';

/** Adds `sessions`. */
export function addSessions(program: Command, run: Run): void {
  const sessions = program
    .command('sessions')
    .description('logins and the tokens that come of them: list, end')
    .addHelpText('after', examples);

  const list = run(actions, all => all.listSessions, listed);
  ownerOptions(
    sessions.command('list').description('list live sessions of a user, of a client, or of a user at a client'),
  )
    .option('--all', 'show those that are over too, as long as they are kept')
    .addOption(limitOption())
    .addOption(afterOption('session', sessionId))
    .addHelpText('after', examples)
    .action((options: ListOptions, command: Command) => {
      if (options.user === undefined && options.client === undefined) {
        command.error('error: name whose sessions: --user or --client (or both)');
      }
      return list(options);
    });

  const endAll = run(actions, all => all.endAllSessions, endedAll);
  const endOne = run(actions, all => all.endSession, ended);
  ownerOptions(sessions.command('end').description('end one session, or all of a user or a client, for good'))
    .argument('[session-id]', 'as list shows it', sessionId)
    .addHelpText('after', examples)
    .action((sessionId: string | undefined, options: OwnerOptions, command: Command) => {
      if ([sessionId, options.user, options.client].filter(named => named !== undefined).length !== 1) {
        command.error('error: name what to end: one session id, --user or --client');
      }
      return sessionId === undefined ? endAll(options) : endOne(sessionId);
    });
}

const examples = `
A session is one login with all tokens that come of it. A user is named by e-mail address or user id.

Examples:
  npm run ops -- sessions list --user ana@acme.com.br
  npm run ops -- sessions end --client 4f6KqXkD1nVb8sYfTzR4uW
  npm run ops -- sessions end 8sYfTzR4uWcJe7HbnQ2m0p-XkD1nVb8sYfTzR4uWcJe7H`;

function ownerOptions(command: Command): Command {
  return command
    .option('--user <user>', 'sessions of this user', userReference)
    .option('--client <client-id>', 'sessions that began through this client', clientId);
}

function actions() {
  return import('./sessions.ts');
}

const session = makeShape<SessionState>([
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
  { json: 'endedBy', value: ({ endedBy }) => endedBy },
  { json: 'createdAt', heading: 'began', value: ({ session }) => iso(session.createdAt) },
  { json: 'lastUsedAt', heading: 'last used', value: ({ session }) => iso(session.rotatedAt) },
  {
    json: 'expiresAt',
    value: ({ session }) => iso(Math.min(session.idleExpiresAt, session.absoluteExpiresAt)),
  },
  { heading: 'state', value: ({ endedBy }) => (endedBy === undefined ? 'live' : `ended: ${endedBy}`) },
]);

function listed({ sessions, next }: SessionStates): Report {
  const { json, text } = session.list('No such sessions.')(sessions);
  return { json, text: next === undefined ? text : `${text}\n\nThere may be more: --after ${next}` };
}

function endedAll(owner: EndedOwner): Report {
  if ('user' in owner) {
    const { userId, email } = owner.user;
    return { json: { userId, ended: true }, text: `Every session of ${email} is over.` };
  }
  const { clientId, name } = owner.client;
  return { json: { clientId, ended: true }, text: `Every session of client ${clientId} (${name}) is over.` };
}

function ended({ sessionId, state }: EndedSession): Report {
  return { json: state ? session.json(state) : { sessionId, state: 'ended' }, text: `Session ${sessionId} is over.` };
}
