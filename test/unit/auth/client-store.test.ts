import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, matchesClientSecret } from '../../../lambdas/auth/client.ts';
import { type ClientStore, makeClientStore } from '../../../lambdas/auth/client-store.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { frozenClock } from '../../support/clock.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

const clock = frozenClock();
let dynalite: Dynalite;
let store: ClientStore;
beforeAll(async () => {
  dynalite = await startDynalite('Clients');
  store = makeClientStore({ documents: dynalite.documents, tableName: 'Clients', now: clock.now, makeId: randomId });
});
afterAll(() => dynalite.stop());

const isGood = (client: Client | undefined, secret: string) => matchesClientSecret(client, secret, clock.now());

describe('clients', () => {
  it('are made with an id and a secret of letters and digits, and strict defaults', async () => {
    const { client, clientSecret } = await store.createClient({ name: 'Shop', grants: ['refresh_token'] });
    expect(client).toMatchObject({ name: 'Shop', grants: ['refresh_token'], graceSeconds: 30, introspect: false });
    expect(client).toMatchObject({ status: 'enabled', createdAt: clock.now() });
    expect(client).not.toHaveProperty('accountId');
    expect(client.clientId).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(clientSecret).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(JSON.stringify(client)).not.toContain(clientSecret);
    expect(await store.findClient(client.clientId)).toEqual(client);
    expect(isGood(client, clientSecret)).toBe(true);
    expect(isGood(client, `${clientSecret}x`)).toBe(false);
  });

  it('are listed by name', async () => {
    await store.createClient({ name: 'B', grants: [], accountId: 'acme', graceSeconds: 0, introspect: true });
    await store.createClient({ name: 'A', grants: ['password'] });
    const names = (await store.listClients()).map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['A', 'B']));
  });

  it('are disabled and enabled again', async () => {
    const { client } = await store.createClient({ name: 'C', grants: [] });
    expect(await store.setClientStatus(client.clientId, 'disabled')).toMatchObject({ status: 'disabled' });
    expect(await store.setClientStatus(client.clientId, 'enabled')).toMatchObject({ status: 'enabled' });
    expect(await store.setClientStatus('nobody', 'enabled')).toBeUndefined();
    expect(await store.findClient('nobody')).toBeUndefined();
  });
});

describe('client secrets', () => {
  it('overlap while they are replaced, two at a time', async () => {
    const { client, clientSecret: first } = await store.createClient({ name: 'D', grants: [] });
    const second = await store.rotateClientSecret(client.clientId, 60);
    if (!second) throw new Error('The client is gone.');
    expect([first, second.clientSecret].map(secret => isGood(second.client, secret))).toEqual([true, true]);

    clock.advance(59_999);
    const third = await store.rotateClientSecret(client.clientId);
    if (!third) throw new Error('The client is gone.');
    const secrets = [first, second.clientSecret, third.clientSecret];
    expect(secrets.map(secret => isGood(third.client, secret))).toEqual([false, true, true]);
    clock.advance(86_400_000);
    expect(secrets.map(secret => isGood(third.client, secret))).toEqual([false, false, true]);
  });

  it('end at once with no overlap', async () => {
    const { client, clientSecret } = await store.createClient({ name: 'E', grants: [] });
    const rotated = await store.rotateClientSecret(client.clientId, 0);
    expect(isGood(rotated?.client, clientSecret)).toBe(false);
    expect(isGood(rotated?.client, rotated?.clientSecret ?? '')).toBe(true);
    expect(await store.rotateClientSecret('nobody')).toBeUndefined();
  });

  it('are never given out and ended in the same moment', async () => {
    const { client } = await store.createClient({ name: 'F', grants: [] });
    const rotations = await Promise.allSettled([1, 2, 3].map(() => store.rotateClientSecret(client.clientId)));
    const stored = await store.findClient(client.clientId);
    for (const rotation of rotations) {
      if (rotation.status === 'fulfilled') expect(isGood(stored, rotation.value?.clientSecret ?? '')).toBe(true);
      else expect(rotation.reason).toMatchObject({ name: 'SecretRotationConflictError' });
    }
  });

  it('open nothing for a client there is not', () => {
    expect(isGood(undefined, '')).toBe(false);
  });
});
