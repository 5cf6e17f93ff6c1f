import type { Command } from 'commander';
import { afterOption, limitOption, notEmpty } from './option-values.ts';
import { iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type {
  EndedOwner,
  EndedSession,
  ListOptions,
  OwnerOptions,
  SessionState,
  SessionStates,
} from './session-actions.ts';
import { yesOption } from './terminal.ts';

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
      return run(command, async target => (await actions()).listSessions(target, options), reportPage);
    });

  ownerOptions(sessions.command('end').description('end one session, or all of a user or a client, for good'))
    .argument('[session-id]', 'as list shows it', notEmpty)
    .addOption(yesOption().hideHelp()) // it asks nothing: accepted for scripts that give it to every command that ends something
    .addHelpText('after', examples)
    .action((sessionId: string | undefined, options: OwnerOptions, command: Command) => {
      if ([sessionId, options.user, options.client].filter(named => named !== undefined).length !== 1) {
        command.error('error: name what to end: one session id, --user or --client');
      }
      return sessionId === undefined
        ? run(command, async target => (await actions()).endAllSessions(target, options), reportEndedOwner)
        : run(command, async target => (await actions()).endSession(target, sessionId), reportEndedSession);
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

function actions() {
  return import('./session-actions.ts');
}

function reportPage({ sessions, next }: SessionStates): Report {
  const columns = [
    { heading: 'SESSION', cell: ({ session }: SessionState) => session.sessionId },
    { heading: 'USER', cell: ({ user, session }: SessionState) => user?.email ?? session.userId },
    { heading: 'CLIENT', cell: ({ session }: SessionState) => session.clientId },
    { heading: 'BEGAN', cell: ({ session }: SessionState) => iso(session.createdAt) ?? '-' },
    { heading: 'LAST USED', cell: ({ session }: SessionState) => iso(session.rotatedAt) ?? '-' },
    { heading: 'STATE', cell: ({ endedBy }: SessionState) => (endedBy === undefined ? 'live' : `ended: ${endedBy}`) },
  ];
  const more = next === undefined ? '' : `\n\nThere may be more: --after ${next}`;
  return { json: sessions.map(viewSession), text: `${table(sessions, columns, 'No such sessions.')}${more}` };
}

function reportEndedOwner(owner: EndedOwner): Report {
  if ('user' in owner) {
    const { userId, email } = owner.user;
    return { json: { userId, ended: true }, text: `Every session of ${email} is over.` };
  }
  const { clientId, name } = owner.client;
  return { json: { clientId, ended: true }, text: `Every session of client ${clientId} (${name}) is over.` };
}

function reportEndedSession({ sessionId, state }: EndedSession): Report {
  return {
    json: state ? viewSession(state) : { sessionId, state: 'ended' },
    text: `Session ${sessionId} is over.`,
  };
}

function viewSession({ session, user, endedBy }: SessionState) {
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
