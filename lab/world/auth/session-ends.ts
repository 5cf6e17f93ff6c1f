import type { Session } from '../../../lambdas/auth/sessions/session.ts';
import type { WatchedTables } from '../watched-tables.ts';
import type { Journal, TokenRequest } from './journal.ts';

/** Returns whether operators had ended a session before a request. Returns both values if the session ended during the request. */
export type SessionEnds = (session: Session, request: TokenRequest) => readonly boolean[];

/** Creates a check that uses the operators' commands. It ignores the version numbers that the product stored. */
export function makeSessionEnds(watched: WatchedTables, journal: Journal): SessionEnds {
  const created = watched.writesOf('Sessions').filter(({ before, item }) => !before && item);
  const logins = new Map(created.map(change => [change.key.sessionId, journal.requestOf(change)]));
  const commands = journal.commands.filter(({ name }) => endingCommands.has(name));

  return function endsOf({ sessionId, userId, clientId, createdAt }, { sentAt, endedAt = sentAt }) {
    const { sentAt: loginSentAt, endedAt: loginEndedAt = loginSentAt } = logins.get(sessionId) ?? { sentAt: createdAt };
    const own = commands.filter(({ subjectId }) => subjectId === userId || subjectId === clientId);
    const isCertain = own.some(command => loginEndedAt < command.sentAt && (command.endedAt ?? endedAt) < sentAt);
    if (isCertain) return [true];
    const isPossible = own.some(command => loginSentAt <= (command.endedAt ?? endedAt) && command.sentAt <= endedAt);
    return isPossible ? [true, false] : [false];
  };
}

/** The commands that end sessions, according to the contract. */
const endingCommands: ReadonlySet<string> = new Set([
  'set-password',
  'disable-user',
  'disable-client',
  'end-user-sessions',
  'end-client-sessions',
  'unbind-client',
]);
