import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { until } from '../support/e2e-poll.ts';
import {
  beginState,
  type Call,
  caller,
  type LeftState,
  type LeftWebhook,
  leaveState,
  listDeliveries,
  type Purpose,
  showDelivery,
  untilAll,
} from './left-state.ts';
import { type Arrival, type Receiver, startReceiver } from './receiver.ts';
import { freePorts, type ServingRelease, serveAlone } from './serving-release.ts';
import type { Releases, SynthesisedRelease } from './set-up.ts';

/** Releases that serve one after the other, on the same tables and queues. */
export interface HandOver {
  /** The previous release writes what the next one is to go on with. */
  leave(): Promise<void>;
  /** The current release goes on with that, and writes, too; after a roll-back the previous one goes on with what that wrote. */
  goOn(): Promise<void>;
  clear(): void;
}

/** Makes the place of a hand-over: a data directory, a receiver, and ports that all releases have. */
export async function prepareHandOver({ current, previous }: Releases): Promise<HandOver> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-hand-over-'));
  const [port, receiver] = await Promise.all([freePorts(), startReceiver()]);
  const place = { port, dataDirectory: path.join(folder, 'data'), hostsFile: path.join(folder, 'hosts.json') };
  writeFileSync(place.hostsFile, JSON.stringify({ [receiver.host]: `http://127.0.0.1:${receiver.port}` }));
  let left: LeftState;
  return {
    leave: async () => {
      left = await during(previous, place, async release =>
        leaveState(release, receiver, await beginState(release, receiver)),
      );
    },
    goOn: async () => {
      const leftByCurrent = await during(current, place, async release => {
        const [begun] = await Promise.all([beginState(release, receiver), goOnWith(left, release, receiver)]);
        return leaveState(release, receiver, begun);
      });
      await during(previous, place, async release => {
        await Promise.all([expectReadable(left, release), goOnWith(leftByCurrent, release, receiver)]);
      });
    },
    clear: () => {
      receiver.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lets a release serve alone while something is done. */
async function during<Result>(
  release: SynthesisedRelease,
  place: Parameters<typeof serveAlone>[1],
  work: (serving: ServingRelease) => Promise<Result>,
): Promise<Result> {
  const serving = await serveAlone(release, place);
  const startedAt = Date.now();
  try {
    return await work(serving);
  } catch (error) {
    const log = readFileSync(serving.run.logFile, 'utf8');
    console.error(`${release.version} wrote last:\n${log.trimEnd().split('\n').slice(-40).join('\n')}`);
    throw error;
  } finally {
    console.info(`${release.version} served for ${Math.round((Date.now() - startedAt) / 1_000)} s.`);
    await serving.stop();
  }
}

/** Expects that all that was begun is finished as if nothing had happened. */
async function goOnWith(left: LeftState, release: ServingRelease, receiver: Receiver): Promise<void> {
  const accepted = ({ path: place }: LeftWebhook) => receiver.arrivals(place).filter(({ isAccepted }) => isAccepted);
  const { webhooks, replayId } = left;
  const acceptedBefore = new Map(Object.values(webhooks).map(webhook => [webhook, accepted(webhook).length]));
  for (const { path: place } of Object.values(webhooks)) receiver.set(place, 'accept');
  const call = await expectTokensToWork(left, release);

  for (const [place, shown] of Object.entries(left.shown))
    expect(await call('GET', place)).toMatchObject(steadyPart(shown as object));
  for (const purpose of ['delivered', 'postponed'] as const) {
    const { evento, ids } = webhooks[purpose];
    for (const id of ids) await call('POST', `/v1/webhooks/${evento}/entregas/${id}/reenvio`);
  }
  await until('the end of the replay', () => whenOver(call, webhooks.replayed, replayId), 180_000, 1_000);
  for (const webhook of Object.values(webhooks)) await untilAll(call, webhook, 'entregue');
  await until('the deliveries that were sent again', () => {
    return webhooks.delivered.ids.every(id => accepted(webhooks.delivered).filter(is(id)).length === 2) || undefined;
  });
  for (const [webhook, before] of acceptedBefore) {
    expect(accepted(webhook).length, `new deliveries of ${webhook.evento}`).toBeGreaterThan(before);
    expectIntact(webhook, receiver.arrivals(webhook.path));
  }
  await expectReadable(left, release);
}

/** Expects the access tokens, the refresh tokens and the password to be good. Returns a caller with a new access token. */
async function expectTokensToWork({ client, user, sessions, webhooks }: LeftState, release: ServingRelease) {
  const { service } = release;
  for (const [index, { access_token, refresh_token }] of sessions.entries()) {
    const listed = await caller(release, access_token)('GET', '/v1/webhooks');
    expect(JSON.stringify(listed)).toContain(webhooks.slow.path);
    sessions[index] = await service.getTokens(refreshGrant(client, refresh_token));
    await caller(release, sessions[index].access_token)('GET', '/v1/webhooks');
  }
  const { access_token } = await service.getTokens(passwordGrant(client, user));
  return caller(release, access_token);
}

async function whenOver(call: Call, { evento, ids }: LeftWebhook, replayId: string): Promise<true | undefined> {
  const replay = await call('GET', `/v1/webhooks/${evento}/reenvios/${replayId}`);
  if (replay.estado === 'em_andamento') return undefined;
  expect(replay).toEqual({ id: replayId, estado: 'concluido', total: ids.length, enviadas: ids.length });
  return true;
}

function is(id: string) {
  return ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => headers['webhook-id'] === id;
}

/** Expects each delivery to have arrived under its id, and each arrival to be one of them, as it was registered. */
function expectIntact(webhook: LeftWebhook, arrivals: readonly Arrival[]): void {
  const accepted = arrivals.filter(({ isAccepted }) => isAccepted);
  expect(new Set(accepted.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(webhook.ids));
  for (const { headers, body, isSigned } of arrivals) {
    expect(webhook.ids).toContain(headers['webhook-id']);
    expect(headers.authorization).toBe(webhook.authorization);
    expect(JSON.parse(body)).toMatchObject({ event: webhook.evento, id_demanda: 1 });
    expect(isSigned).toBe(true);
  }
}

/** Expects the tokens to work, and the whole history to be there, for the account and for operators. */
async function expectReadable(left: LeftState, release: ServingRelease): Promise<void> {
  const { account, webhooks, replayId, deadLetter } = left;
  const call = await expectTokensToWork(left, release);
  for (const webhook of Object.values(webhooks)) {
    expect((await listDeliveries(call, webhook, 'entregue')).toSorted()).toEqual(webhook.ids.toSorted());
  }
  const attempts: Partial<Record<Purpose, RegExp>> = {
    delivered: /^entregue entregue$/,
    retried: /^(http )+entregue$/,
    postponed: /^http entregue$/,
    queued: /^entregue$/,
    replayed: /^entregue$/,
  };
  for (const [purpose, results] of Object.entries(attempts)) {
    const webhook = webhooks[purpose as Purpose];
    for (const id of webhook.ids.slice(0, 3)) {
      const { tentativas } = await showDelivery(call, webhook, id);
      expect(tentativas.map(({ resultado }) => resultado).join(' '), `${purpose} ${id}`).toMatch(results);
    }
  }
  expect(await whenOver(call, webhooks.replayed, replayId)).toBe(true);

  const [slowId = ''] = webhooks.slow.ids;
  expect(await release.ops(['deliveries', 'show', slowId])).toMatchObject({ id: slowId, state: 'entregue' });
  expect(await release.ops(['webhooks', 'list', '--account', account])).toHaveLength(Object.keys(webhooks).length);
  const letter = await release.ops(['dlq', 'show', deadLetter]);
  expect(letter).toMatchObject({ messageId: deadLetter, reason: 'malformed' });
}

/** Returns what stays of what was shown while deliveries go on: what waits may come through meanwhile, and end a failure. */
function steadyPart(shown: object): object {
  const changing = new Set(['falhando_desde', 'lento_desde']);
  return JSON.parse(JSON.stringify(shown, (name, value) => (changing.has(name) ? undefined : value)));
}
