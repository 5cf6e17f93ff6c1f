import {
  BatchExecuteStatementCommand,
  DeleteTableCommand,
  DynamoDBClient,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { type Check, must, type World } from './check.ts';

/** The checks of DynamoDB, on a table of their own. */
export const dataChecks: readonly Check[] = [
  {
    name: 'protection',
    claim: 'With `protection: true` DynamoDB refuses to delete a table',
    run: checkProtection,
  },
  {
    name: 'batch-execute-statement',
    claim:
      'An INSERT of an item that is there is refused by itself, as `DuplicateItem`, and the others of its batch go through; each costs its write units',
    run: checkStatements,
  },
];

async function checkProtection({ settings, scratch: { TableName } }: World): Promise<string> {
  const dynamo = new DynamoDBClient(settings);
  const protect = async (DeletionProtectionEnabled: boolean) => {
    await dynamo.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled }));
    await waitUntilTableExists({ client: dynamo, maxWaitTime: 120 }, { TableName });
  };
  await protect(true);
  try {
    await dynamo.send(new DeleteTableCommand({ TableName }));
  } catch (error) {
    await protect(false);
    const { name, message } = error as Error;
    must(/protect/i.test(message), `a protected table is refused for something else: ${name}: ${message}`);
    return `${name}: ${message}`;
  }
  must(false, 'a table with deletion protection was deleted');
}

async function checkStatements({ settings, scratch: { TableName } }: World): Promise<string> {
  const dynamo = new DynamoDBClient(settings);
  const insert = (id: string) => ({
    Statement: `INSERT INTO "${TableName}" VALUE {'id': ?}`,
    Parameters: [{ S: id }],
  });
  const run = (...ids: readonly string[]) =>
    dynamo.send(new BatchExecuteStatementCommand({ Statements: ids.map(insert), ReturnConsumedCapacity: 'TOTAL' }));
  await run('there');
  const { Responses = [], ConsumedCapacity = [] } = await run('there', 'new');
  const codes = Responses.map(({ Error: error }) => error?.Code ?? 'written');
  must(codes.join() === 'DuplicateItem,written', `an item that is there, and a new one: ${codes.join(', ')}`);
  const units = ConsumedCapacity.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  return `${codes.join(', ')}; ${units} units for both`;
}
