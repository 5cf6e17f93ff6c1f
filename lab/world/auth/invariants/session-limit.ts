import { parseClient } from '../../../../lambdas/auth/principals/client.ts';
import { parseUser } from '../../../../lambdas/auth/principals/user.ts';
import { isExpired, parseSession, type Session } from '../../../../lambdas/auth/sessions/session.ts';
import type { Violate } from '../../invariants/violation.ts';
import type { Change } from '../../watched-tables.ts';
import type { TokenRequest } from '../journal.ts';
import type { Evidence } from './evidence.ts';

/** Judges the limit of a user's sessions at one client, write by write: there are never too many, and those end that the contract names. */
export function judgeSessionLimit({ world, isCalm }: Evidence, violate: Violate): void {
  const { watched, journal, faultClass } = world;
  const places = new Map<string, Place>();
  for (const change of watched.writesOf('Sessions')) {
    const [before, after] = [parseSession(change.before), parseSession(change.item)];
    const session = after ?? before;
    if (session) judgeChange(change, session, placeOf(session), journal.authorOf(change));
  }

  function judgeChange(change: Change, session: Session, place: Place, author: TokenRequest | undefined): void {
    if (!change.item) {
      place.sessions.delete(session.sessionId);
      if (author && place.creators.get(session.sessionId) !== author) judgeChoice(session, place, change.at, author);
      return;
    }
    place.sessions.set(session.sessionId, session);
    if (change.before || !author) return;
    place.creators.set(session.sessionId, author);
    if (isCalm(author)) place.calmLogins += 1;
    const isJudged = faultClass === 'calm' || place.calmLogins > loginsUntilKept;
    const live = isJudged ? [...place.sessions.values()].filter(liveAt(change.at, session)).length : 0;
    if (live > mostLive) violate(`${live} sessions of a user live at one client`, session.clientId);
  }

  /** Of what a count leaves, 199 beside its own are worth more than what it ends. */
  function judgeChoice(ended: Session, { sessions, creators }: Place, moment: number, author: TokenRequest): void {
    const isLive = liveAt(moment, ended);
    const worth = worthOf(ended, isLive(ended), moment);
    const better = [...sessions.values()].filter(
      other => creators.get(other.sessionId) !== author && worthOf(other, isLive(other), moment) > worth,
    );
    if (better.length < kept - 1)
      violate(`a session was ended before ${kept - better.length} that are worth less`, ended.sessionId);
  }

  function placeOf({ userId, clientId }: Session): Place {
    const name = `${userId} ${clientId}`;
    const place = places.get(name) ?? { sessions: new Map(), creators: new Map(), calmLogins: 0 };
    places.set(name, place);
    return place;
  }

  /** Returns what tells the live sessions of a user at a client, at a moment. */
  function liveAt(moment: number, { userId, clientId }: Session): (session: Session) => boolean {
    const user = parseUser(watched.at('Users', { userId }, moment));
    const client = parseClient(watched.at('Clients', { clientId }, moment));
    return session =>
      session.revokedAt === undefined &&
      !isExpired(session, moment) &&
      session.userVersion === user?.version &&
      session.clientVersion === client?.version;
  }
}

/** The sessions of a user at a client. */
interface Place {
  readonly sessions: Map<string, Session>;
  /** The login that made each of them. */
  readonly creators: Map<string, TokenRequest>;
  calmLogins: number;
}

/** The contract's numbers: so many stay, and never more live. */
const kept = 200;
const mostLive = 240;

/** Counts that failed, and logins whose number a lost answer skipped, are made up for by so many logins in calm. */
const loginsUntilKept = 40;

/** What ends first is worth least: ended ones, those unused for an hour, of both those never refreshed, then the longest unused. */
function worthOf({ counter, rotatedAt }: Session, isLive: boolean, now: number): number {
  const isRecent = rotatedAt + 3_600_000 > now;
  const rank = (isLive ? 4 : 0) + (isRecent ? 2 : 0) + (counter > 1 ? 1 : 0);
  return rank * 1e14 + rotatedAt;
}
