import { BatchExecuteStatementCommand, BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { ServiceError } from '../service-error.ts';

/** Returns the error of a batch entry that a service currently rejects, or `undefined`. */
export type RejectEntry = () => ServiceError | undefined;

/**
 * Executes the accepted entries of a batch. Rejected keys and items are unprocessed. Each rejected statement has an error.
 *
 * @throws {ServiceError} if all keys or items are rejected, or a TypeError if the command is not a batch
 */
export function executePartially(command: unknown, reject: RejectEntry, execute: (command: unknown) => object): object {
  if (command instanceof BatchGetCommand) {
    const { RequestItems = {} } = command.input;
    const { done, rest } = divide(RequestItems, ({ Keys = [] }) => Keys, reject);
    const withOptions = ([table, Keys]: [string, (typeof done)[string]]) => [table, { ...RequestItems[table], Keys }];
    const requestFor = (keys: typeof done) => Object.fromEntries(Object.entries(keys).map(withOptions));
    return { ...execute(new BatchGetCommand({ RequestItems: requestFor(done) })), UnprocessedKeys: requestFor(rest) };
  }
  if (command instanceof BatchWriteCommand) {
    const { done, rest } = divide(command.input.RequestItems, writes => writes, reject);
    return { ...execute(new BatchWriteCommand({ RequestItems: done })), UnprocessedItems: rest };
  }
  if (!(command instanceof BatchExecuteStatementCommand)) throw new TypeError('This command is not a batch command.');
  const { Statements = [] } = command.input;
  const errors = Statements.map(reject);
  const done = Statements.filter((_, at) => !errors[at]);
  const response = done.length > 0 ? execute(new BatchExecuteStatementCommand({ Statements: done })) : {};
  const { Responses = [] }: { readonly Responses?: readonly object[] } = response;
  const responses = Responses.values();
  return { Responses: errors.map(error => (error ? { Error: errorEntryOf(error) } : responses.next().value)) };
}

/** Divides the entries of each table into accepted and rejected ones. @throws {ServiceError} if all are rejected */
function divide<Requested, Entry>(
  requested: Readonly<Record<string, Requested>> = {},
  entriesOf: (requested: Requested) => readonly Entry[],
  reject: RejectEntry,
) {
  const done: Record<string, Entry[]> = {};
  const rest: Record<string, Entry[]> = {};
  let error: ServiceError | undefined;
  for (const [table, request] of Object.entries(requested)) {
    for (const entry of entriesOf(request)) {
      const rejection = reject();
      error ??= rejection;
      const target = rejection ? rest : done;
      target[table] = [...(target[table] ?? []), entry];
    }
  }
  if (error && Object.keys(done).length === 0) throw error;
  return { done, rest };
}

function errorEntryOf({ name, message }: ServiceError): object {
  return { Code: name.replace('Exception', ''), Message: message };
}
