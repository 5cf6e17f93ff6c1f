import { BatchExecuteStatementCommand, BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { executePartially } from '../../src/dynamodb/partial.ts';
import { ServiceError } from '../../src/service-error.ts';

const rejection = new ServiceError('ProvisionedThroughputExceededException', 'no');
const [a, b, c] = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
const put = { PutRequest: { Item: a } };
const removal = { DeleteRequest: { Key: b } };
const [first, second] = [{ Statement: 'INSERT 1' }, { Statement: 'INSERT 2' }];

/** Executes a command with a service that rejects the second entry. */
function rejectSecond(command: object) {
  const executed: unknown[] = [];
  const errors = [undefined, rejection];
  const execute = (each: unknown) => {
    executed.push(Object(each).input);
    return { Responses: [{ TableName: 'T' }] };
  };
  return { response: executePartially(command, () => errors.shift(), execute), executed };
}

test.each([
  [
    'keys',
    new BatchGetCommand({ RequestItems: { T: { Keys: [a, b], ConsistentRead: true }, U: { Keys: [c] } } }),
    { RequestItems: { T: { Keys: [a], ConsistentRead: true }, U: { Keys: [c] } } },
    { UnprocessedKeys: { T: { Keys: [b], ConsistentRead: true } } },
  ],
  [
    'items',
    new BatchWriteCommand({ RequestItems: { T: [put, removal] } }),
    { RequestItems: { T: [put] } },
    { UnprocessedItems: { T: [removal] } },
  ],
  [
    'statements',
    new BatchExecuteStatementCommand({ Statements: [first, second] }),
    { Statements: [first] },
    { Responses: [{ TableName: 'T' }, { Error: { Code: 'ProvisionedThroughputExceeded', Message: 'no' } }] },
  ],
])('executes the accepted part of a batch: %s', (_, command, input, response) => {
  expect(rejectSecond(command)).toMatchObject({ executed: [input], response });
});
