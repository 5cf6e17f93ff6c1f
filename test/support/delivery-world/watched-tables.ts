import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Tables, TablesCommand } from '@emissor/cloud/dynamodb/tables';
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
  let stand: Interception = (command, next) => next(command);
  return { execute, looks: { operations, puts, intercept } };

  /** Has something stand before the tables. */
  function intercept(interception: Interception): void {
    stand = interception;
  }

  /** @throws for a number that is not whole, too: a table adds in decimal, and a process reads doubles. */
  function execute<Output extends object>(command: TablesCommand<Output>, next: Tables['execute']): Output {
    operations.push(command.constructor.name);
    const fraction = fractionIn(command.input);
    if (fraction !== undefined) throw new Error(`${command.constructor.name} sends ${fraction}.`);
    const answer = stand(command, next);
    if (command instanceof PutCommand) puts.push({ ...command.input.Item });
    return answer;
  }
}
