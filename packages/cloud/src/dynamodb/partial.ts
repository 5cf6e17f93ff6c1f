import { BatchExecuteStatementCommand, BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { ServiceError } from '../service-error.ts';

/** Returns an error if the service rejects the next batch entry, or `undefined`. */
export type RejectEntry = () => ServiceError | undefined;

/**
 * Executes the accepted entries of a batch. Returns rejected keys and items as unprocessed, and an error for each rejected statement.
 *
 * @throws {ServiceError} if all keys or items are rejected, or a TypeError if the command is not a batch
 */
export function executePartially(command: unknown, reject: RejectEntry, execute: (command: unknown) => object): object {
  if (command instanceof BatchGetCommand) {
    const { RequestItems = {} } = command.input;
    const { accepted, rejected } = divide(RequestItems, ({ Keys = [] }) => Keys, reject);
    const toItem = ([table, Keys]: [string, (typeof accepted)[string]]) => [table, { ...RequestItems[table], Keys }];
    const items = (keys: typeof accepted) => Object.fromEntries(Object.entries(keys).map(toItem));
    return { ...execute(new BatchGetCommand({ RequestItems: items(accepted) })), UnprocessedKeys: items(rejected) };
  }
  if (command instanceof BatchWriteCommand) {
    const { accepted, rejected } = divide(command.input.RequestItems, writes => writes, reject);
    return { ...execute(new BatchWriteCommand({ RequestItems: accepted })), UnprocessedItems: rejected };
  }
  if (!(command instanceof BatchExecuteStatementCommand)) throw new TypeError('This command is not a batch command.');
  const { Statements = [] } = command.input;
  const errors = Statements.map(reject);
  const accepted = Statements.filter((_, at) => !errors[at]);
  const response = accepted.length > 0 ? execute(new BatchExecuteStatementCommand({ Statements: accepted })) : {};
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
  const accepted: Record<string, Entry[]> = {};
  const rejected: Record<string, Entry[]> = {};
  let error: ServiceError | undefined;
  for (const [table, request] of Object.entries(requested)) {
    for (const entry of entriesOf(request)) {
      const rejection = reject();
      error ??= rejection;
      const target = rejection ? rejected : accepted;
      target[table] = [...(target[table] ?? []), entry];
    }
  }
  if (error && Object.keys(accepted).length === 0) throw error;
  return { accepted, rejected };
}

function errorEntryOf({ name, message }: ServiceError): object {
  return { Code: name.replace('Exception', ''), Message: message };
}
