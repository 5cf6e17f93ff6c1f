import { pick, type Random } from '../../../../tools/support/random.ts';
import { minute, second } from '../../times.ts';
import { type Actions, credentialsOf } from '../actions.ts';
import type { WorldClient, WorldUser } from '../population.ts';

/** The state that the client keeps for a session. */
interface ClientSession {
  /** The token for the next refresh. */
  token: string;
  accessToken: string;
  /** The used refresh tokens, oldest first. */
  readonly used: string[];
}

/** An action of a client with a session. Returns whether the session continues. */
type SessionAction = (session: ClientSession) => Promise<boolean>;

/** Logs a user in through a client repeatedly, and uses each session with valid and invalid requests. */
export async function useSessions(
  actions: Actions,
  client: WorldClient,
  user: WorldUser,
  random: Random,
  until: number,
) {
  const { pause, now } = actions;
  const sessionActions = makeSessionActions(actions, client, random);
  while (now() < until) {
    const tokens = await actions.logIn(client, user);
    const session = tokens?.refresh_token !== undefined && {
      token: tokens.refresh_token,
      accessToken: tokens.access_token,
      used: [],
    };
    let isActive = session !== false;
    while (session && isActive && now() < until) {
      await pause((1 + 12 * random()) * second);
      isActive = await pick(sessionActions, random)(session);
    }
    await pause((1 + 10 * random()) * second);
  }
}

function makeSessionActions(actions: Actions, client: WorldClient, random: Random): readonly SessionAction[] {
  const { pause, send, refresh } = actions;
  return [renew, renew, race, loseResponse, loseResponse, reuseToken, revoke, introspect, introspect, introspectInRace];

  async function renew(session: ClientSession): Promise<boolean> {
    const tokens = await refresh(client, session.token);
    if (tokens?.refresh_token === undefined) return false;
    if (tokens.refresh_token !== session.token) session.used.push(session.token);
    Object.assign(session, { token: tokens.refresh_token, accessToken: tokens.access_token });
    return true;
  }

  /** Sends two or three refreshes at the same time. */
  async function race(session: ClientSession): Promise<boolean> {
    const others = Array.from({ length: 1 + Math.floor(2 * random()) }, () => refresh(client, session.token));
    const isStillActive = await renew(session);
    await Promise.all(others);
    return isStillActive;
  }

  /** Ignores a response, and repeats the request within or after the grace period. */
  async function loseResponse(session: ClientSession): Promise<boolean> {
    void refresh(client, session.token);
    await pause(random() < 0.7 ? random() * 25 * second : minute);
    return renew(session);
  }

  async function reuseToken(session: ClientSession): Promise<boolean> {
    const old = session.used.at(-2);
    if (old !== undefined) await refresh(client, old);
    return renew(session);
  }

  /** Revokes the session with any of its tokens, and then tries to continue it. */
  async function revoke(session: ClientSession): Promise<boolean> {
    const token = pick([session.token, session.accessToken, session.used[0] ?? session.token], random);
    await send('revoke', { ...credentialsOf(client), token });
    await introspect(session);
    return renew(session);
  }

  async function introspect({ token, accessToken, used }: ClientSession): Promise<boolean> {
    for (const each of [token, accessToken, ...used.slice(-1)]) {
      await send('introspect', { ...credentialsOf(client), token: each });
    }
    return true;
  }

  /** Introspects and refreshes a token at the same time. */
  async function introspectInRace(session: ClientSession): Promise<boolean> {
    const introspection = send('introspect', { ...credentialsOf(client), token: session.token });
    const isStillActive = await renew(session);
    await introspection;
    return isStillActive;
  }
}
