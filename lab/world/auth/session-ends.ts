import type { Session } from '../../../lambdas/auth/sessions/session.ts';
import type { WatchedTables } from '../watched-tables.ts';
import type { Journal, TokenRequest } from './journal.ts';

/** Returns whether operators had ended a session when a request arrived. Returns both values if that then changed. */
export type SessionEnds = (session: Session, request: TokenRequest) => readonly boolean[];

/** Creates the check from the commands of operators, because the product wrote the versions of the items. */
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

/** The commands that end sessions, as listed in the contract. */
const endingCommands: ReadonlySet<string> = new Set([
  'set-password',
  'disable-user',
  'disable-client',
  'end-user-sessions',
  'end-client-sessions',
  'unbind-client',
]);
