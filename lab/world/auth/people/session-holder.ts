import { pick, type Random } from '../../../../tools/support/random.ts';
import { minute, second } from '../../times.ts';
import type { WorldClient, WorldUser } from '../population.ts';
import { credentialsOf, type Scene } from '../scene.ts';

/** The state of a session at its client. */
interface HeldSession {
  /** The token for the next refresh. */
  token: string;
  accessToken: string;
  /** The used refresh tokens, oldest first. */
  readonly used: string[];
}

/** An action of a client with a session. Returns whether the session continues. */
type Action = (held: HeldSession) => Promise<boolean>;

/** Logs a user in at a client repeatedly, and uses each session with valid and invalid requests. */
export async function holdSessions(scene: Scene, client: WorldClient, user: WorldUser, random: Random, until: number) {
  const { pause, now } = scene;
  const actions = makeActions(scene, client, random);
  while (now() < until) {
    const tokens = await scene.logIn(client, user);
    const held = tokens?.refresh_token !== undefined && {
      token: tokens.refresh_token,
      accessToken: tokens.access_token,
      used: [],
    };
    let isActive = held !== false;
    while (held && isActive && now() < until) {
      await pause((1 + 12 * random()) * second);
      isActive = await pick(actions, random)(held);
    }
    await pause((1 + 10 * random()) * second);
  }
}

function makeActions(scene: Scene, client: WorldClient, random: Random): readonly Action[] {
  const { pause, send, refresh } = scene;
  return [renew, renew, race, loseResponse, loseResponse, reuseToken, revoke, introspect, introspect, introspectInRace];

  async function renew(held: HeldSession): Promise<boolean> {
    const tokens = await refresh(client, held.token);
    if (tokens?.refresh_token === undefined) return false;
    if (tokens.refresh_token !== held.token) held.used.push(held.token);
    Object.assign(held, { token: tokens.refresh_token, accessToken: tokens.access_token });
    return true;
  }

  /** Sends two or three refreshes at the same time. */
  async function race(held: HeldSession): Promise<boolean> {
    const others = Array.from({ length: 1 + Math.floor(2 * random()) }, () => refresh(client, held.token));
    const isStillActive = await renew(held);
    await Promise.all(others);
    return isStillActive;
  }

  /** Ignores a response, and repeats the request within or after the grace period. */
  async function loseResponse(held: HeldSession): Promise<boolean> {
    void refresh(client, held.token);
    await pause(random() < 0.7 ? random() * 25 * second : minute);
    return renew(held);
  }

  async function reuseToken(held: HeldSession): Promise<boolean> {
    const old = held.used.at(-2);
    if (old !== undefined) await refresh(client, old);
    return renew(held);
  }

  /** Revokes the session with any of its tokens, and then tries to continue it. */
  async function revoke(held: HeldSession): Promise<boolean> {
    const token = pick([held.token, held.accessToken, held.used[0] ?? held.token], random);
    await send('revoke', { ...credentialsOf(client), token });
    await introspect(held);
    return renew(held);
  }

  async function introspect({ token, accessToken, used }: HeldSession): Promise<boolean> {
    for (const each of [token, accessToken, ...used.slice(-1)]) {
      await send('introspect', { ...credentialsOf(client), token: each });
    }
    return true;
  }

  /** Refreshes a session while the refresh token is introspected. */
  async function introspectInRace(held: HeldSession): Promise<boolean> {
    const introspection = send('introspect', { ...credentialsOf(client), token: held.token });
    const isStillActive = await renew(held);
    await introspection;
    return isStillActive;
  }
}
