import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, startDatabase } from '../support/database/database.ts';

const Key = { clientId: 'one' };
let database: Database;
let another: Database;

beforeAll(async () => {
  [database, another] = await Promise.all([startDatabase('Clients'), startDatabase('Clients')]);
  await database.dynamo(new PutCommand({ TableName: 'Clients', Item: Key }));
});
afterAll(() => Promise.all([database.stop(), another.stop()]));

const read = async ({ dynamo }: Pick<Database, 'dynamo'>) =>
  (await dynamo(new GetCommand({ TableName: 'Clients', Key }))).Item;

describe('a database of tests', () => {
  it('is alone, though two have tables of the same name', async () => {
    expect(await read(database)).toEqual(Key);
    expect(await read(another)).toBeUndefined();
  });

  it('is on the engine that EMISSOR_DYNAMODB names', async () => {
    const { headers } = await fetch(database.endpoint);
    const isDynamoDbLocal = headers.get('server')?.startsWith('Jetty') ?? false;
    expect(isDynamoDbLocal ? 'dynamodb-local' : 'memory').toBe(process.env.EMISSOR_DYNAMODB || 'memory');
  });

  // The table adds and compares in decimal, a process in doubles: a fraction that was stored may never be met again.
  it.each([
    ['a number', { count: 0.5 }],
    ['a number of a list of maps', { list: [{ at: 1 / 3 }] }],
    ['one beyond what a double holds exactly', { count: 2 ** 53 }],
  ])('refuses what is not whole: %s', async (_, fields) => {
    const command = new PutCommand({ TableName: 'Clients', Item: { ...Key, ...fields } });
    await expect(database.dynamo(command)).rejects.toThrow('PutItemCommand sends');
    expect(await read(database)).toEqual(Key);
    expect(database.fractions.splice(0)).toHaveLength(1);
  });
});
