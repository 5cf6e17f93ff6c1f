import { pick, type Random } from '../../../../tools/support/random.ts';
import { minute, second } from '../../times.ts';
import type { WorldClient, WorldUser } from '../population.ts';
import { credentialsOf, type Scene } from '../scene.ts';

/** A session from its client's point of view. */
interface Held {
  /** The token for the next refresh. */
  token: string;
  accessToken: string;
  /** The used tokens, oldest first. */
  readonly used: string[];
}

/** An action of a client with a session. Returns whether the session continues. */
type Deed = (held: Held) => Promise<boolean>;

/** Logs a user in at a client repeatedly, and uses each session in permitted and forbidden ways. */
export async function holdSessions(scene: Scene, client: WorldClient, user: WorldUser, random: Random, until: number) {
  const { pause, now } = scene;
  const deeds = makeDeeds(scene, client, random);
  while (now() < until) {
    const tokens = await scene.logIn(client, user);
    const held = tokens?.refresh_token !== undefined && {
      token: tokens.refresh_token,
      accessToken: tokens.access_token,
      used: [],
    };
    let goesOn = held !== false;
    while (held && goesOn && now() < until) {
      await pause((1 + 12 * random()) * second);
      goesOn = await pick(deeds, random)(held);
    }
    await pause((1 + 10 * random()) * second);
  }
}

function makeDeeds(scene: Scene, client: WorldClient, random: Random): readonly Deed[] {
  const { pause, send, refresh } = scene;
  return [goOn, goOn, race, loseAnswer, loseAnswer, useOldOne, revoke, ask, ask, lend];

  async function goOn(held: Held): Promise<boolean> {
    const tokens = await refresh(client, held.token);
    if (tokens?.refresh_token === undefined) return false;
    if (tokens.refresh_token !== held.token) held.used.push(held.token);
    Object.assign(held, { token: tokens.refresh_token, accessToken: tokens.access_token });
    return true;
  }

  /** Sends two or three refreshes at the same time. */
  async function race(held: Held): Promise<boolean> {
    const others = Array.from({ length: 1 + Math.floor(2 * random()) }, () => refresh(client, held.token));
    const isGoing = await goOn(held);
    await Promise.all(others);
    return isGoing;
  }

  /** Loses the response, and repeats the request within the grace period or after it. */
  async function loseAnswer(held: Held): Promise<boolean> {
    void refresh(client, held.token);
    await pause(random() < 0.7 ? random() * 25 * second : minute);
    return goOn(held);
  }

  async function useOldOne(held: Held): Promise<boolean> {
    const old = held.used.at(-2);
    if (old !== undefined) await refresh(client, old);
    return goOn(held);
  }

  /** Revokes the session with any of its tokens, and then tries to continue it. */
  async function revoke(held: Held): Promise<boolean> {
    const token = pick([held.token, held.accessToken, held.used[0] ?? held.token], random);
    await send('revoke', { ...credentialsOf(client), token });
    await ask(held);
    return goOn(held);
  }

  async function ask({ token, accessToken, used }: Held): Promise<boolean> {
    for (const asked of [token, accessToken, ...used.slice(-1)]) {
      await send('introspect', { ...credentialsOf(client), token: asked });
    }
    return true;
  }

  /** Uses the refresh token while an access token is introspected. */
  async function lend(held: Held): Promise<boolean> {
    const asked = send('introspect', { ...credentialsOf(client), token: held.token });
    const isGoing = await goOn(held);
    await asked;
    return isGoing;
  }
}
