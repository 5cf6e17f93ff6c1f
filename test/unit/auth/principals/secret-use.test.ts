import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { makeSecretUse, readLastUses } from '../../../../lambdas/auth/principals/secret-use.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import type { After } from '../../../../lambdas/platform/timer.ts';
import { passwordGrant } from '../../../../tools/support/service-client.ts';
import { startAuthService } from '../../../support/auth-service.ts';

const service = await startAuthService();
afterAll(() => service.stop());

const day = 86_400_000;
const isoDay = (moment: number) => new Date(moment).toISOString().slice(0, 10);

async function makeClient() {
  const { id, secret } = await service.makeClient();
  const { username, password } = await service.makeUser();
  const user = { email: username, password };
  return {
    id,
    logIn: (clientSecret = secret, given = user) =>
      service.post('token', passwordGrant({ clientId: id, clientSecret }, given)),
    introspect: (clientSecret = secret) =>
      service.post('introspect', { client_id: id, client_secret: clientSecret, token: 'none' }),
    rotate: async () => (await service.clients.rotateClientSecret(id))?.clientSecret ?? '',
    lastUses: async () => {
      const client = await service.clients.findClient(id);
      return client && readLastUses(service.database.dynamo, 'Lockouts', client);
    },
  };
}

const isNote = (input: object) => JSON.stringify(input).includes('lastUsedOn');

/** Returns how many notes of uses are written meanwhile. */
async function countNotes(work: () => Promise<unknown>): Promise<number> {
  let notes = 0;
  const stop = service.database.before(/./, input => {
    if (isNote(input)) notes++;
  });
  await work();
  stop();
  return notes;
}

describe('the last use of a client secret', () => {
  it('is known to the day, whatever became of the request', async () => {
    const client = await makeClient();
    expect(await client.lastUses()).toEqual([undefined]);
    const { status } = await client.logIn(undefined, { email: 'nobody@example.com', password: 'wrong' });
    expect(status).toBe(400);
    expect(await client.lastUses()).toEqual([isoDay(service.clock.now())]);
    service.clock.advance(day);
    expect((await client.introspect()).status).toBe(200);
    expect(await client.lastUses()).toEqual([isoDay(service.clock.now())]);
    const { Items = [] } = await service.database.dynamo(new ScanCommand({ TableName: 'Lockouts' }));
    const note = Items.find(({ pk }) => String(pk).startsWith(`secret#${client.id}`));
    expect(note?.ttl).toBe((service.clock.now() + 400 * day) / 1_000);
  });

  it.each(['logIn', 'introspect'] as const)('is written before the answer of %s', async ask => {
    const client = await makeClient();
    const stop = service.database.before('UpdateItemCommand', async input => {
      if (isNote(input)) for (let time = 0; time < 5; time++) await client.lastUses(); // longer than a request takes
    });
    expect((await client[ask]()).status).toBe(200);
    stop();
    expect(await client.lastUses()).toEqual([isoDay(service.clock.now())]);
  });

  it('is told of each of two secrets, in the log line too', async () => {
    const client = await makeClient();
    service.clock.advance(1_000);
    const newSecret = await client.rotate();
    await client.logIn();
    expect(await client.lastUses()).toEqual([undefined, isoDay(service.clock.now())]);
    service.clock.advance(3_600_000);
    await client.logIn(newSecret);
    const [first, second] = (await service.clients.findClient(client.id))?.secrets ?? [];
    const lines = service.logs.filter(line => line.includes('token.granted') && line.includes(client.id));
    expect(lines[0]).toContain(`"secretOf":"${new Date(second?.createdAt ?? 0).toISOString()}"`);
    expect(lines[1]).toContain(`"secretOf":"${new Date(first?.createdAt ?? 0).toISOString()}"`);
    expect(await client.lastUses()).not.toContain(undefined);
  });

  it('is not noted of a secret that is wrong', async () => {
    const client = await makeClient();
    expect((await client.logIn('wrong')).status).toBe(401);
    expect(await client.lastUses()).toEqual([undefined]);
  });

  it('is written once a day by a process, however many requests there are', async () => {
    const client = await makeClient();
    const many = () => Promise.all(Array.from({ length: 20 }, () => client.logIn()));
    expect(await countNotes(many)).toBe(1);
    expect(await countNotes(many)).toBe(0);
    service.clock.advance(day);
    expect(await countNotes(many)).toBe(1);
  });

  it('refuses nobody where it cannot be written, and is tried again after a minute', async () => {
    const client = await makeClient();
    const stop = service.database.before('UpdateItemCommand', input => {
      if (isNote(input)) throw new Error('throttled');
    });
    expect((await client.logIn()).status).toBe(200);
    stop();
    expect(service.logs.at(-2)).toContain('client_secret.use_not_noted');
    expect(await client.lastUses()).toEqual([undefined]);
    service.clock.advance(60_000);
    await client.logIn();
    expect(await client.lastUses()).toEqual([isoDay(service.clock.now())]);
  });

  // Bug: every request waited as long as the SDK tries, over three seconds, while the table was slow.
  it('is begun once a minute where no write is answered, and waited for half a second', async () => {
    const waits: number[] = [];
    const silent: Dynamo = (_command, { abortSignal } = {}) =>
      new Promise((_, reject) => abortSignal?.addEventListener('abort', () => reject(abortSignal.reason)));
    const after: After = (milliseconds, callback) => {
      waits.push(milliseconds);
      queueMicrotask(callback);
      return () => {};
    };
    const { now } = service.clock;
    const secretUse = makeSecretUse({ dynamo: silent, table: 'Lockouts', now, after, log: { warn: () => {} } });
    for (const pause of [0, 59_999, 1]) {
      service.clock.advance(pause);
      secretUse.note({ clientId: 'any' }, { createdAt: 1 });
      await secretUse.settled();
    }
    expect(waits).toEqual([500, 500]);
  });
});
