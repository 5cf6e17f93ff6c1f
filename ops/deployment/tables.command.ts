import { isDeepStrictEqual } from 'node:util';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { chunksOf } from '../../lambdas/platform/in-batches.ts';
import { readKeys } from '../../lambdas/platform/keyring.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { command, type Noun } from '../audit/command.ts';
import { argument } from '../command-line/arg-spec.ts';
import { notEmpty } from '../command-line/forms.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { CliError, isNamed } from '../stage/operator.ts';
import { openUsers } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

// `sessions` and `lockouts` are excluded, because restored sessions and locks may have ended.
const names = ['clients', 'users', 'credentials', 'webhooks', 'deliveries', 'keyring'] as const;
const table = argument('table', `of the stage: ${names.join(', ')}`, z.enum(names));
const restored = argument('restored', 'the name of the table that AWS restored', notEmpty);

const copyMissing = command('tables copy', {
  description: "copy missing items to the stage's table, without overwriting any; the command can be repeated",
  args: { table, restored },
  effect: 'writes',
  act: (task, args) => untilInterrupted(signal => copy(task, args, signal), task.print),
  subject: (_task, args) => ({ table: args.table }),
  report: counts => ({
    json: counts,
    text: `Copied ${counts.copied} of ${counts.restored} restored items. Not copied: ${counts.same} are the same, ${counts.changed} were changed since, ${counts.expired} have expired, and ${counts.notCopied} must not be restored.`,
  }),
});

const notes = '\nExample:\n  npm run ops -- --stage prod tables copy users Emissor-prod-users-restored';
export const tables: Noun = { name: 'tables', description: 'restore lost items', notes, commands: [copyMissing] };

async function copy(task: AuditedTask, args: { table: string; restored: string }, interruption: AbortSignal) {
  const { target, progress, confirm, recordResult } = task;
  const stageTable = requireOutput(target, `${args.table.charAt(0).toUpperCase()}${args.table.slice(1)}Table`);
  const keyNames = await keyNamesOf(target, stageTable);
  const restoredNames = await keyNamesOf(target, args.restored);
  if (keyNames.join() !== restoredNames.join()) throw new CliError(`${args.restored} is not a copy of ${stageTable}.`);
  await confirm(
    `This copies all items of ${args.restored} that are missing from ${stageTable}, even if they were deleted.`,
  );
  const counts = { restored: 0, same: 0, changed: 0, expired: 0, copied: 0, notCopied: 0 };
  for await (const { Items = [] } of paginateScan({ client: target.documents() }, { TableName: args.restored })) {
    for (const items of chunksOf(Items, 40)) {
      const results = await Promise.allSettled(items.map(copyItem)); // after a failure, the other calls still complete
      for (const result of results) if (result.status === 'fulfilled') counts[result.value] += 1;
      counts.restored += items.length;
      if (counts.copied > 0) recordResult({ count: counts.copied });
      for (const result of results) if (result.status === 'rejected') throw result.reason;
      progress(`${counts.restored} items compared, ${counts.copied} copied`);
      interruption.throwIfAborted();
    }
  }
  return counts;

  async function copyItem(item: Item): Promise<Exclude<keyof typeof counts, 'restored'>> {
    const Key = Object.fromEntries(keyNames.map(name => [name, item[name]]));
    const { Item: present } = await target.dynamo(new GetCommand({ TableName: stageTable, Key, ConsistentRead: true }));
    if (isDeepStrictEqual(item, present)) return 'same';
    if (present && item.kind !== 'encryption') return 'changed';
    if (!present && Number(item.ttl) * 1_000 <= target.clock.now()) return 'expired';
    if (!(await mayRestore(task, args.table, item))) return 'notCopied';
    return (await put(item)) ? 'copied' : 'changed';
  }

  async function put(item: Item): Promise<boolean> {
    try {
      const ConditionExpression = `attribute_not_exists(${keyNames[0]})`;
      await target.dynamo(new PutCommand({ TableName: stageTable, Item: item, ConditionExpression }));
      return true;
    } catch (error) {
      if (!isNamed(error, 'ConditionalCheckFailedException')) throw error;
    }
    if (item.kind !== 'encryption') return false;
    // Another key already has this generation. A key with the lowest generation can decrypt but never becomes active.
    const keys = await readKeys(target.dynamo, stageTable, 'encryption');
    const generation = (keys[0]?.generation ?? 1) - 1;
    return keys.every(({ keyId }) => keyId !== item.keyId) && put({ ...item, generation });
  }
}

/** Returns false for a key that may have been revoked, and for a credential if its user is deleted or has a new address. */
async function mayRestore({ target, warn }: AuditedTask, name: string, item: Item): Promise<boolean> {
  if (name !== 'credentials') return name !== 'keyring' || item.kind === 'encryption';
  const reading = openUsers(target).findUser(String(item.userId));
  const user = await reading.catch(error => {
    if (!(error instanceof z.core.$ZodError)) throw error;
    warn(`could not read user ${item.userId}, so the credential of the user was not copied`);
  });
  return user?.email === item.email;
}

async function keyNamesOf(target: Target, TableName: string): Promise<readonly string[]> {
  const { Table } = await target.documents().send(new DescribeTableCommand({ TableName }));
  return Table?.KeySchema?.map(({ AttributeName = '' }) => AttributeName) ?? [];
}
