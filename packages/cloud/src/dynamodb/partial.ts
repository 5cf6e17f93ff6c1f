import { BatchExecuteStatementCommand, BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { ServiceError } from '../service-error.ts';

/** Returns the error of an entry of a batch that a service refuses for now, or none. */
export type Refuse = () => ServiceError | undefined;

/**
 * Executes what is not refused of a batch, and answers as DynamoDB does: the rest is unprocessed, and each statement has its own error.
 *
 * @throws {ServiceError} where all keys or items are refused; TypeError for a command that is no batch.
 */
export function executePartially(command: unknown, refuse: Refuse, execute: (command: unknown) => object): object {
  if (command instanceof BatchGetCommand) {
    const keys = entriesOf(command.input.RequestItems, ({ Keys = [], ...options }) =>
      Keys.map(key => ({ ...options, Keys: [key] })),
    );
    const { done, left } = divide(keys, refuse);
    const join = (some: typeof keys) =>
      byTable(some, requests => ({ ...requests[0], Keys: requests.flatMap(({ Keys }) => Keys) }));
    return { ...execute(new BatchGetCommand({ RequestItems: join(done) })), UnprocessedKeys: join(left) };
  }
  if (command instanceof BatchWriteCommand) {
    const { done, left } = divide(
      entriesOf(command.input.RequestItems, writes => writes),
      refuse,
    );
    const join = (some: typeof done) => byTable(some, writes => [...writes]);
    return { ...execute(new BatchWriteCommand({ RequestItems: join(done) })), UnprocessedItems: join(left) };
  }
  if (!(command instanceof BatchExecuteStatementCommand)) throw new TypeError('This command has one entry.');
  const { Statements = [] } = command.input;
  const errors = Statements.map(refuse);
  const done = Statements.filter((_, at) => !errors[at]);
  const answer: object = done.length > 0 ? execute(new BatchExecuteStatementCommand({ Statements: done })) : {};
  const responses = 'Responses' in answer && Array.isArray(answer.Responses) ? [...answer.Responses] : [];
  return { Responses: errors.map(error => (error ? { Error: failureOf(error) } : responses.shift())) };
}

type Entry<Request> = readonly [table: string, request: Request];

function entriesOf<Asked, Request>(
  asked: Readonly<Record<string, Asked>> = {},
  requestsOf: (asked: Asked) => readonly Request[],
): Entry<Request>[] {
  return Object.entries(asked).flatMap(([table, each]) =>
    requestsOf(each).map((request): Entry<Request> => [table, request]),
  );
}

function divide<Each>(entries: readonly Each[], refuse: Refuse) {
  const errors = entries.map(refuse);
  const [done, left] = [entries.filter((_, at) => !errors[at]), entries.filter((_, at) => errors[at])];
  if (done.length === 0) throw errors[0];
  return { done, left };
}

function byTable<Request, Joined>(entries: readonly Entry<Request>[], join: (requests: readonly Request[]) => Joined) {
  const tables = new Set(entries.map(([table]) => table));
  const requestsOf = (name: string) => entries.filter(([table]) => table === name).map(([, request]) => request);
  return Object.fromEntries([...tables].map(table => [table, join(requestsOf(table))]));
}

function failureOf({ name, message }: ServiceError): object {
  return { Code: name.replace('Exception', ''), Message: message };
}
