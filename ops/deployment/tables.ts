import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { reads, writes } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { requireOutput, type Target, type Task } from '../stage/target.ts';
import { type Comparison, compareTables, putMissing, type RestoredTable } from './restored-table.ts';

/** The operators' actions on a table that AWS restored. */
export const actions = {
  compareTables: reads(compare),
  copyMissing: writes('tables copy', copyMissing, {
    before: (_task, table) => ({ table }),
    after: ({ copied }) => ({ count: copied }),
  }),
};

/** Compares a restored table with the stage's. @throws {CliError} where one is missing, or both have different keys. */
async function compare({ target, progress }: Task, table: string, restored: string): Promise<Comparison> {
  const both = await findTables(target, table, restored);
  return compareTables(target.dynamo, both, {
    now: secondsOf(target),
    pause: target.pause,
    onProgress: ({ restored: read }) => progress(`${read} items compared`),
  });
}

/**
 * Copies what is missing in the stage's table from a restored one. It overwrites nothing, and may be repeated. Of the keyring it copies
 * sealing keys only.
 *
 * @throws {CliError} for sessions and lockouts, where a table is missing, both have different keys, or the operator does not agree.
 */
async function copyMissing(
  { target, progress, confirm, warn }: Task,
  table: string,
  restored: string,
): Promise<Comparison & { readonly copied: number }> {
  const why = neverCopied[table];
  if (why !== undefined) throw new CliError(`${table} are not copied: ${why}`);
  const both = await findTables(target, table, restored);
  await confirm(
    `This copies every item of ${restored} that ${both.table} does not have, what was deleted on purpose since then too.`,
  );
  const dynamo = target.dynamo;
  let copied = 0;
  const comparison = await compareTables(dynamo, both, {
    now: secondsOf(target),
    pause: target.pause,
    onMissing: async item => {
      if (mayReturn(table, item) && (await putMissing(dynamo, both, item))) copied += 1;
    },
    onProgress: ({ restored: read }) => progress(`${read} items compared, ${copied} copied`),
  }).catch((error: unknown) => {
    if (copied > 0) warn(`${copied} items were copied before it failed: repeat the command for the others`);
    throw error;
  });
  return { ...comparison, copied };
}

/** The tables whose items must not come back, and why. */
const neverCopied: Readonly<Record<string, string>> = {
  sessions: 'one that was ended since would live again. Their users log in anew.',
  lockouts: 'what they count is over within a day, and locks would fall again.',
};

/** Returns whether an item may come back. A key that signs or authenticates may be missing because it was revoked. */
function mayReturn(table: string, { kind }: Item): boolean {
  return table !== 'keyring' || kind === 'sealing';
}

async function findTables(target: Target, name: string, restored: string): Promise<RestoredTable> {
  const table = requireOutput(target, `${name.charAt(0).toUpperCase()}${name.slice(1)}Table`);
  if (restored === table) throw new CliError(`${restored} is the stage's own table: name the one that was restored.`);
  const [own = [], other] = await Promise.all([keyNamesOf(target, table), keyNamesOf(target, restored)]);
  if (other === undefined) throw new CliError(`there is no table ${restored}.`);
  if (own.join() !== other.join()) {
    throw new CliError(`${restored} has the key ${other.join(', ')}, and ${table} has ${own.join(', ')}.`);
  }
  return { table, restored, keyNames: own };
}

async function keyNamesOf(target: Target, table: string): Promise<readonly string[] | undefined> {
  try {
    const { Table } = await target.documents().send(new DescribeTableCommand({ TableName: table }));
    return Table?.KeySchema?.map(({ AttributeName = '' }) => AttributeName);
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

function secondsOf({ clock }: Target): number {
  return Math.floor(clock.now() / 1_000);
}
