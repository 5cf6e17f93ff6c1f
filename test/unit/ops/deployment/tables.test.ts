import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { readKeys } from '../../../../lambdas/platform/keyring.ts';
import { type TableName, tableDefinition } from '../../../../tools/support/tables.ts';
import type { Database } from '../../../support/database/database.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';

/** Creates a restored table. Returns its name. */
async function makeRestored({ client }: Database, name: TableName): Promise<string> {
  const TableName = `${name}-restored`;
  const definition = { BillingMode: 'PAY_PER_REQUEST', ...tableDefinition(name) } as const;
  await client.send(new CreateTableCommand({ TableName, ...definition }));
  await waitUntilTableExists({ client, minDelay: 1, maxDelay: 1, maxWaitTime: 10 }, { TableName });
  return TableName;
}

// `ops tables copy` restores lost items of a table without overwriting others (contract, section 7).

it('restores an encryption key with the lowest generation if its generation is taken', async () => {
  const { json, run, put, database, stop } = await startOperatedTables();
  const { dynamo } = database;
  const restored = await makeRestored(database, 'Keyring');
  const rotate = () => json('keys rotate --now --kind encryption');
  const keyIds = async () => (await readKeys(dynamo, 'Keyring', 'encryption')).map(({ keyId }) => keyId);

  await rotate();
  const lostKeys = await readKeys(dynamo, 'Keyring', 'encryption');
  for (const { kind, generation } of lostKeys)
    await dynamo(new DeleteCommand({ TableName: 'Keyring', Key: { kind, generation } }));
  await rotate();
  await rotate();
  const current = await keyIds();
  const others = [...(await readKeys(dynamo, 'Keyring', 'mac')), ...(await readKeys(dynamo, 'Keyring', 'signing'))];
  const revoked = others.map(key => ({ ...key, keyId: `revoked ${key.kind}` }));
  await put(restored, ...lostKeys, ...revoked);

  const unconfirmed = { code: 1, stdout: '', stderr: expect.stringMatching(/Add --yes to confirm\.\n$/) };
  expect(await run('tables', 'copy', 'keyring', restored)).toEqual(unconfirmed);
  expect(await json(`tables copy keyring ${restored}`)).toMatchObject({ changed: 2, copied: 2 });
  const [first, second, ...rest] = await json('keys list --kind encryption');
  expect([first.keyId, second.keyId].toSorted()).toEqual(lostKeys.map(({ keyId }) => keyId).toSorted());
  const states = [first, second, ...rest].map(({ generation, state }) => `${generation} ${state}`);
  expect(states).toEqual(['-1 retiring', '0 retiring', '1 retiring', '2 active']);
  expect((await keyIds()).slice(2)).toEqual(current);
  expect(await json(`tables copy keyring ${restored}`)).toMatchObject({ copied: 0 });
  expect(await keyIds()).toHaveLength(4);
  expect((await readKeys(dynamo, 'Keyring', 'mac')).map(({ keyId }) => keyId)).not.toContain('revoked mac');
  await stop();
});

it('restores a credential only if its user still has that address', async () => {
  const { json, run, put, items, createUser, database, stop } = await startOperatedTables();
  const restored = await makeRestored(database, 'Credentials');
  const create = async (name: string) => (await createUser('acme', `${name}@acme.example`)).userId;
  const [, moved, deleted] = [await create('lost'), await create('moved'), await create('deleted')];
  const invalid = await create('invalid');
  await put(restored, ...(await items('Credentials')));
  await json(`users set-email ${moved} new@acme.example`);
  await json(`users delete ${deleted}`);
  for (const name of ['lost', 'invalid']) {
    await database.dynamo(new DeleteCommand({ TableName: 'Credentials', Key: { email: `${name}@acme.example` } }));
  }
  await put('Users', { userId: invalid });
  expect(await run('tables', 'copy', 'credentials', restored, '--yes')).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^Copied 1 of 4 restored items\. Not copied: .* 3 must not be restored\.\n$/),
    stderr: expect.stringContaining(`warning: could not read user ${invalid},`),
  });
  const emails = (await items('Credentials')).map(({ email }) => email);
  expect(emails.toSorted()).toEqual(['lost@acme.example', 'new@acme.example']);
  await stop();
});

it('copies only missing items, and copies none when it is repeated', async () => {
  const { json, put, items, database, stop } = await startOperatedTables();
  const restored = await makeRestored(database, 'Clients');
  const numbered = (name: string, count: number, more: object = {}) =>
    Array.from({ length: count }, (_, at) => ({ clientId: `${name}${at}`, data: new Uint8Array([at]), ...more }));
  const [same, missing] = [numbered('same', 3), numbered('missing', 50, { ttl: Math.floor(Date.now() / 1_000) + 60 })];
  const [expired, added] = [numbered('expired', 4, { ttl: 1_000 }), numbered('added', 2)];
  const changed = numbered('changed', 5, { later: true });
  await put(restored, ...same, ...numbered('changed', 5), ...missing, ...expired);
  await put('Clients', ...same, ...changed, ...added);

  const copy = () => json(`tables copy clients ${restored}`);
  const counts = { restored: 62, changed: 5, expired: 4, notCopied: 0 };
  expect(await copy()).toEqual({ ...counts, same: 3, copied: 50 });
  const found = await items('Clients');
  expect(found).toHaveLength(60);
  expect(found).toEqual(expect.arrayContaining([...same, ...changed, ...added, ...missing]));
  expect(await copy()).toEqual({ ...counts, same: 53, copied: 0 });
  await stop();
});

it.each([
  ['sessions, because ended sessions would be restored', ['sessions', 'Sessions-restored'], 2],
  ['lockouts, because removed locks would be restored', ['lockouts', 'Lockouts-restored'], 2],
  ['a table with other keys', ['clients', 'Users'], 1],
  ['a table that does not exist', ['clients', 'Clients-restored'], 1],
])('does not copy %s', async (_case, words, code) => {
  const { run, stop } = await startOperatedTables();
  expect(await run('tables', 'copy', ...words, '--yes')).toMatchObject({ code, stdout: '' });
  await stop();
});
