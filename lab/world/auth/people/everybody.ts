import { accessTokenSeconds, refreshIdleSeconds } from '../../../../lambdas/auth/lifetimes.ts';
import { pick, shuffled } from '../../../../tools/support/random.ts';
import { faultTime } from '../../fault-classes.ts';
import { minute } from '../../times.ts';
import type { TokenWorld } from '../make-token-world.ts';
import type { WorldClient, WorldUser } from '../population.ts';
import { credentialsOf, type Scene } from '../scene.ts';
import { guessers, guessSideBySide, mistypeLater, visit } from './guessers.ts';
import { operateNow } from './operators-plan.ts';
import { holdSessions } from './session-holder.ts';

/** Starts all simulated users and operators of a world. They stop when the faults end, except for later logins. */
export function letIn(world: TokenWorld, startedAt: number): void {
  const { scene, population } = world;
  const { clients, users } = population;
  const { web, mobile, strict, bound, once, keeper, auditor } = clients;
  const until = startedAt + faultTime;
  const holders = [
    [web, users.ana],
    [mobile, users.bia],
    [strict, users.caio],
    [bound, users.ana],
    [keeper, users.duda],
    [auditor, users.duda],
  ] as const;
  for (const [client, user] of holders) {
    scene.enter(random => holdSessions(scene, client, user, random, until));
    scene.enter(() => laterVisit(client, user));
  }
  scene.enter(random => visit(scene, [web, once, mobile], users.victim, random, until));
  scene.enter(random => visit(scene, [web, once], users.bia, random, until));
  scene.enter(() => laterVisit(once, users.victim));
  scene.enter(async () => {
    await scene.until(startedAt + 25 * 60 * minute);
    await mistypeLater(scene, [web, once, mobile], users.victim);
  });
  scene.enter(random => operateNow(scene, population, random));
  const everywhere = [web, mobile, strict, bound, once, auditor];
  for (const guess of [guessers.guessPatiently, guessers.guessAtOnce]) {
    scene.enter(random => guess(scene, shuffled(everywhere, random), users.victim, random));
  }
  scene.enter(async random => {
    await scene.pause((0.5 + random()) * minute);
    const guessed = random() < 0.7 ? users.victim : { email: 'nobody@nowhere.example', password: 'none' };
    await pick(Object.values(guessers), random)(scene, everywhere, guessed, random);
  });
  scene.enter(async random => {
    await scene.pause(random() * minute);
    await guessSideBySide(scene, shuffled([web, once, mobile], random), users.dormant, random);
  });

  async function laterVisit(client: WorldClient, user: WorldUser): Promise<void> {
    await scene.until(startedAt + 20 * minute);
    await visitLater(scene, client, user);
  }
}

/** Logs in after all locks have ended, and uses a session until it expires. */
async function visitLater(scene: Scene, client: WorldClient, user: WorldUser) {
  const { refresh, send, pause } = scene;
  const introspect = async (token: string) => void (await send('introspect', { ...credentialsOf(client), token }));
  const first = await scene.logIn(client, user);
  const second = await scene.logIn(client, user);
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
