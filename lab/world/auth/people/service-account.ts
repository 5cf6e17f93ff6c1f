import { refreshIdleSeconds } from '../../../../lambdas/auth/lifetimes.ts';
import type { Session } from '../../../../lambdas/auth/sessions/session.ts';
import { pick, type Random } from '../../../../tools/support/random.ts';
import { minute, second } from '../../times.ts';
import type { WorldClient, WorldUser } from '../population.ts';
import type { Scene } from '../scene.ts';

/** Logs in for each request at some clients, and uses its refresh tokens hardly ever. */
export async function logInForEach(
  scene: Scene,
  clients: readonly WorldClient[],
  user: WorldUser,
  random: Random,
  until: number,
) {
  while (scene.now() < until) {
    const client = pick(clients, random);
    const tokens = await scene.logIn(client, user);
    if (tokens?.refresh_token !== undefined && random() < 0.1) await scene.refresh(client, tokens.refresh_token);
    await scene.pause(random() * 2 * second);
  }
}

/** Returns sessions of a service account from before the beginning, so many that the limit is near. Ids are in no order of age. */
export function earlierSessions(
  client: WorldClient,
  user: WorldUser,
  keyId: string,
  now: number,
  random: Random,
): readonly Session[] {
  return Array.from({ length: 170 + Math.floor(random() * 30) }, () => {
    const age = random() < 0.5 ? random() * 20 * minute : (120 + random() * 10_000) * minute;
    const rotatedAt = Math.floor(now - age);
    return {
      sessionId: `${user.userId}-${Math.floor(random() * 2 ** 52).toString(36)}`,
      clientId: client.clientId,
      userId: user.userId,
      accountId: user.accountId,
      userVersion: 1,
      clientVersion: 1,
      scope: 'webhooks:read webhooks:manage',
      counter: random() < 0.3 ? 2 : 1,
      keyId,
      createdAt: rotatedAt,
      rotatedAt,
      idleExpiresAt: rotatedAt + refreshIdleSeconds * 1_000,
      absoluteExpiresAt: rotatedAt + 90 * 86_400_000,
    };
  });
}
