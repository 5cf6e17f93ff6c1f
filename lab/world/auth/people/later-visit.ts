import { minute } from '../../times.ts';
import type { WorldClient, WorldUser } from '../population.ts';
import { credentialsOf, type Scene } from '../scene.ts';
import { accessTokenSeconds, refreshIdleSeconds } from '../token-stage.ts';

/** Logs in when all locks are over, and goes through the life of a session, to its end by time. */
export async function visitLater(scene: Scene, client: WorldClient, user: WorldUser) {
  const { refresh, send, pause } = scene;
  const ask = async (token: string) => void (await send('introspect', { ...credentialsOf(client), token }));
  const first = await scene.logIn(client, user);
  const second = await scene.logIn(client, user);
  await ask(first?.access_token ?? 'none');
  await pause(accessTokenSeconds * 1_000);
  await ask(first?.access_token ?? 'none');
  if (first?.refresh_token === undefined || second?.refresh_token === undefined) return;
  const next = await refresh(client, first.refresh_token);
  await ask(next?.refresh_token ?? 'none');
  await refresh(client, first.refresh_token);
  await send('revoke', { ...credentialsOf(client), token: first.refresh_token });
  await refresh(client, next?.refresh_token ?? 'none');
  await ask(next?.access_token ?? 'none');
  await pause(refreshIdleSeconds * 1_000 - 20 * minute);
  const last = await refresh(client, second.refresh_token);
  await pause(refreshIdleSeconds * 1_000 + 1_000);
  await ask(last?.refresh_token ?? 'none');
  await refresh(client, last?.refresh_token ?? 'none');
}
