import { BatchExecuteStatementCommand, BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { ServiceError } from '../service-error.ts';

/** Returns the error of a batch entry that a service currently rejects, or `undefined`. */
export type Refuse = () => ServiceError | undefined;

/**
 * Executes the accepted part of a batch. As in DynamoDB, the rest is unprocessed, and each statement has its own error.
 *
 * @throws {ServiceError} if all keys or items are rejected; TypeError if the command is not a batch.
 */
export function executePartially(command: unknown, refuse: Refuse, execute: (command: unknown) => object): object {
  if (command instanceof BatchGetCommand) {
    const { RequestItems = {} } = command.input;
    const { done, left } = divide(RequestItems, ({ Keys = [] }) => Keys, refuse);
    const withOptions = ([table, Keys]: [string, (typeof done)[string]]) => [table, { ...RequestItems[table], Keys }];
    const asked = (keys: typeof done) => Object.fromEntries(Object.entries(keys).map(withOptions));
    return { ...execute(new BatchGetCommand({ RequestItems: asked(done) })), UnprocessedKeys: asked(left) };
  }
  if (command instanceof BatchWriteCommand) {
    const { done, left } = divide(command.input.RequestItems, writes => writes, refuse);
    return { ...execute(new BatchWriteCommand({ RequestItems: done })), UnprocessedItems: left };
  }
  if (!(command instanceof BatchExecuteStatementCommand)) throw new TypeError('This command has one entry.');
  const { Statements = [] } = command.input;
  const errors = Statements.map(refuse);
  const done = Statements.filter((_, at) => !errors[at]);
  const answer = done.length > 0 ? execute(new BatchExecuteStatementCommand({ Statements: done })) : {};
  const { Responses = [] }: { readonly Responses?: readonly object[] } = answer;
  const responses = Responses.values();
  return { Responses: errors.map(error => (error ? { Error: failureOf(error) } : responses.next().value)) };
}

/** Splits the entries of each table into processed and unprocessed ones. @throws {ServiceError} if all are unprocessed. */
function divide<Asked, Entry>(
  asked: Readonly<Record<string, Asked>> = {},
  entriesOf: (asked: Asked) => readonly Entry[],
  refuse: Refuse,
) {
  const done: Record<string, Entry[]> = {};
  const left: Record<string, Entry[]> = {};
  let error: ServiceError | undefined;
  for (const [table, each] of Object.entries(asked)) {
    for (const entry of entriesOf(each)) {
      const refusal = refuse();
      error ??= refusal;
      const some = refusal ? left : done;
      some[table] = [...(some[table] ?? []), entry];
    }
  }
  if (error && Object.keys(done).length === 0) throw error;
  return { done, left };
}

function failureOf({ name, message }: ServiceError): object {
  return { Code: name.replace('Exception', ''), Message: message };
}
