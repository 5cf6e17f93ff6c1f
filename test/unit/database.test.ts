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
});
