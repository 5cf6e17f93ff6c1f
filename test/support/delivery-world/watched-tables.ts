import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Tables, TablesCommand } from '@emissor/virtual-cloud/dynamodb/tables';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { fractionIn } from '../database/database.ts';

/** Executes a command, itself or by what stands behind it. */
export type Interception = <Output extends object>(command: TablesCommand<Output>, next: Tables['execute']) => Output;

/** Makes what stands before the tables, and notes what is done there. */
export function makeWatchedTables() {
  /** The name of each command so far; to be emptied by who counts anew. */
  const operations: string[] = [];
  /** Each item that was put. */
  const puts: Item[] = [];
  /** Whether the answer of each update is lost, and the SDK repeats it. */
  const table = { repeatsUpdates: false };
  let stand: Interception = (command, next) => next(command);
  return { execute, looks: { operations, puts, table, intercept } };

  /** Has something stand before the tables. */
  function intercept(interception: Interception): void {
    stand = interception;
  }

  /** @throws for a number that is not whole, too: a table adds in decimal, and a process reads doubles. */
  function execute<Output extends object>(command: TablesCommand<Output>, next: Tables['execute']): Output {
    operations.push(command.constructor.name);
    const fraction = fractionIn(command.input);
    if (fraction !== undefined) throw new Error(`${command.constructor.name} sends ${fraction}.`);
    if (table.repeatsUpdates && command instanceof UpdateCommand) executeUnheard(command, next);
    const answer = stand(command, next);
    if (command instanceof PutCommand) puts.push({ ...command.input.Item });
    return answer;
  }
}

function executeUnheard(command: UpdateCommand, next: Tables['execute']): void {
  try {
    next(command);
  } catch {
    // nobody hears of it
  }
}
