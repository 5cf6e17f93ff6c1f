import type { Session } from '../../../lambdas/auth/sessions/session.ts';
import type { WatchedTables } from '../watched-tables.ts';
import type { Journal, TokenRequest } from './journal.ts';

/** Returns whether operators had ended a session when a request reached it; both values if that changed during the request. */
export type SessionEnds = (session: Session, request: TokenRequest) => readonly boolean[];

/** Creates it from the commands of operators, not from the versions that the product wrote. */
export function makeSessionEnds(watched: WatchedTables, journal: Journal): SessionEnds {
  const created = watched.writesOf('Sessions').filter(({ before, item }) => !before && item);
  const logins = new Map(created.map(change => [change.key.sessionId, journal.authorOf(change)]));
  const commands = journal.commands.filter(({ name }) => endingCommands.has(name));

  return function endsOf({ sessionId, userId, clientId, createdAt }, { sentAt, endedAt = sentAt }) {
    const { sentAt: begunAt, endedAt: madeAt = begunAt } = logins.get(sessionId) ?? { sentAt: createdAt };
    const own = commands.filter(({ about }) => about === userId || about === clientId);
    const isSure = own.some(command => madeAt < command.sentAt && (command.endedAt ?? endedAt) < sentAt);
    if (isSure) return [true];
    const isPossible = own.some(command => begunAt <= (command.endedAt ?? endedAt) && command.sentAt <= endedAt);
    return isPossible ? [true, false] : [false];
  };
}

/** The contract's list. Other commands end no session. */
const endingCommands: ReadonlySet<string> = new Set([
  'set-password',
  'disable-user',
  'disable-client',
  'end-user-sessions',
  'end-client-sessions',
  'unbind-client',
]);
