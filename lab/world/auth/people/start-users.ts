import { accessTokenSeconds, refreshIdleSeconds } from '../../../../lambdas/auth/lifetimes.ts';
import { pick, shuffled } from '../../../../tools/support/random.ts';
import { faultTime } from '../../fault-classes.ts';
import { minute } from '../../times.ts';
import { type Actions, credentialsOf } from '../actions.ts';
import type { TokenWorld } from '../make-token-world.ts';
import type { WorldClient, WorldUser } from '../population.ts';
import { guessers, logInOccasionally, mistypeThenLogIn, raceLogins } from './guessers.ts';
import { runOperators } from './operators-plan.ts';
import { useSessions } from './session-user.ts';

/** Starts all simulated users and operators of a world. Most of them stop when the faults end, and some log in later. */
export function startUsers(world: TokenWorld, startedAt: number): void {
  const { actions, population } = world;
  const { clients, users } = population;
  const { web, mobile, strict, bound, once, refreshOnly, auditor } = clients;
  const until = startedAt + faultTime;
  const pairs = [
    [web, users.ana],
    [mobile, users.bia],
    [strict, users.caio],
    [bound, users.ana],
    [refreshOnly, users.duda],
    [auditor, users.duda],
  ] as const;
  for (const [client, user] of pairs) {
    actions.startUser(random => useSessions(actions, client, user, random, until));
    actions.startUser(() => logInLater(client, user));
  }
  actions.startUser(random => logInOccasionally(actions, [web, once, mobile], users.victim, random, until));
  actions.startUser(random => logInOccasionally(actions, [web, once], users.bia, random, until));
  actions.startUser(() => logInLater(once, users.victim));
  actions.startUser(async () => {
    await actions.until(startedAt + 25 * 60 * minute);
    await mistypeThenLogIn(actions, [web, once, mobile], users.victim);
  });
  actions.startUser(random => runOperators(actions, population, random));
  const allClients = [web, mobile, strict, bound, once, auditor];
  for (const guess of [guessers.guessSerially, guessers.guessConcurrently]) {
    actions.startUser(random => guess(actions, shuffled(allClients, random), users.victim, random));
  }
  actions.startUser(async random => {
    await actions.pause((0.5 + random()) * minute);
    const target = random() < 0.7 ? users.victim : { email: 'nobody@nowhere.example', password: 'none' };
    await pick(Object.values(guessers), random)(actions, allClients, target, random);
  });
  actions.startUser(async random => {
    await actions.pause(random() * minute);
    await raceLogins(actions, shuffled([web, once, mobile], random), users.dormant, random);
  });

  async function logInLater(client: WorldClient, user: WorldUser): Promise<void> {
    await actions.until(startedAt + 20 * minute);
    await useSessionUntilExpiry(actions, client, user);
  }
}

/** Logs in after all locks have expired, and uses a session until it expires. */
async function useSessionUntilExpiry(actions: Actions, client: WorldClient, user: WorldUser) {
  const { refresh, send, pause } = actions;
  const introspect = async (token: string) => void (await send('introspect', { ...credentialsOf(client), token }));
  const first = await actions.logIn(client, user);
  const second = await actions.logIn(client, user);
  await introspect(first?.access_token ?? 'none');
  await pause(accessTokenSeconds * 1_000);
  await introspect(first?.access_token ?? 'none');
  if (first?.refresh_token === undefined || second?.refresh_token === undefined) return;
  const next = await refresh(client, first.refresh_token);
  await introspect(next?.refresh_token ?? 'none');
  await refresh(client, first.refresh_token);
  await send('revoke', { ...credentialsOf(client), token: first.refresh_token });
  await refresh(client, next?.refresh_token ?? 'none');
  await introspect(next?.access_token ?? 'none');
  await pause(refreshIdleSeconds * 1_000 - 20 * minute);
  const last = await refresh(client, second.refresh_token);
  await pause(refreshIdleSeconds * 1_000 + 1_000);
  await introspect(last?.refresh_token ?? 'none');
  await refresh(client, last?.refresh_token ?? 'none');
}
