import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { emailsOf } from '../../lambdas/auth/principals/user.ts';
import { dueWithoutSlot } from '../../lambdas/delivery/store/delivery-item.ts';
import type { Dynamo, Item } from '../../lambdas/platform/aws/dynamo.ts';
import { readKeys } from '../../lambdas/platform/keyring.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { command, type Noun } from '../audit/command.ts';
import { notEmpty } from '../command-line/forms.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { argument, type Given } from '../command-line/words.ts';
import { CliError, isNamed } from '../stage/operator.ts';
import { openUsers } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { type Comparison, compareTables, putMissing, type RestoredTable } from './restored-table.ts';

const examples = `
docs/runbook.md, "Restoring", has the commands of AWS that make the other table. Left out are keys that may have been revoked,
and credentials of addresses that no user has: copy users first.

Examples:
  npm run ops -- --stage prod tables compare users Emissor-prod-users-restored
  npm run ops -- --stage prod tables copy users Emissor-prod-users-restored`;

const names = ['clients', 'users', 'credentials', 'sessions', 'lockouts', 'webhooks', 'deliveries', 'keyring'] as const;

const bothTables = {
  table: argument(
    'table',
    `of the stage: ${names.join(', ')}`,
    z.string().pipe(z.literal(names, `It must be one of ${names.join(', ')}.`)),
  ),
  restored: argument('restored', 'the name of the table that AWS restored', notEmpty),
};

const compare = command('tables compare', {
  about: "count what a restored table has and the stage's does not; it changes nothing",
  notes: examples,
  given: bothTables,
  effect: 'reads',
  act: async ({ target, progress }, { table, restored }) =>
    compareTables(target.dynamo, await findTables(target, table, restored), {
      now: secondsOf(target),
      pause: target.pause,
      onProgress: ({ restored: read }) => progress(`${read} items compared`),
    }),
  report: comparison => ({ json: comparison, text: `${told(comparison)}.` }),
});

/** Copies what is missing in the stage's table from a restored one. Of the keyring it copies sealing keys only. */
export const copyMissing = command('tables copy', {
  about: "copy what is missing in the stage's table; nothing is overwritten, and it may be repeated",
  notes: examples,
  given: bothTables,
  effect: 'writes',
  act: (task, given) => untilInterrupted(signal => copy(task, given, signal), task.tell),
  subject: (_task, { table }) => ({ table }),
  report: result => ({ json: result, text: `Copied ${result.copied}, left out ${result.notCopied}. ${told(result)}.` }),
});

export const tables: Noun = {
  name: 'tables',
  about: 'a table that AWS restored: compare, copy what is missing',
  notes: examples,
  commands: [compare, copyMissing],
};

/** Copies what is missing, and what has its place only below others. */
async function copy(task: AuditedTask, { table, restored }: Given<typeof bothTables>, interruption: AbortSignal) {
  const { target, progress, confirm, nameDone } = task;
  const why = neverCopied[table];
  if (why !== undefined) throw new CliError(`${table} are not copied: ${why}`);
  const both = await findTables(target, table, restored);
  await confirm(
    `This copies every item of ${restored} that ${both.table} does not have, what was deleted on purpose since then too.`,
  );
  const { dynamo, pause } = target;
  const mayReturn = makeMayReturn(task, table);
  const displaced: Item[] = [];
  const displace = (item: Item) => {
    if (table === 'keyring' && item.kind === 'sealing') displaced.push(item);
  };
  let [copied, notCopied] = [0, 0];
  const note = () => nameDone({ count: ++copied });
  const comparison = await compareTables(dynamo, both, {
    now: secondsOf(target),
    pause,
    onMissing: async item => {
      if (!(await mayReturn(item))) notCopied += 1;
      else if (await putMissing(dynamo, both, table === 'deliveries' ? dueWithoutSlot(item) : item)) note();
      else displace(item);
    },
    onChanged: displace,
    onProgress: ({ restored: read }) => {
      progress(`${read} items compared, ${copied} copied`);
      interruption.throwIfAborted();
    },
  });
  for (const key of displaced) if (await putBelow(dynamo, both, key)) note();
  return { ...comparison, copied, notCopied };
}

/** The tables whose items must not come back, and why. */
const neverCopied: Readonly<Record<string, string>> = {
  sessions: 'one that was ended since would live again. Their users log in anew.',
  lockouts: 'what they count is over within a day, and locks would fall again.',
};

/**
 * Makes what judges an item that is missing: may it come back? A key that signs or authenticates may have been revoked, and the user of
 * a credential deleted, or given another address: no command names such a credential by an id.
 */
function makeMayReturn({ target, warn }: AuditedTask, table: string): (item: Item) => boolean | Promise<boolean> {
  if (table !== 'credentials') return ({ kind }) => table !== 'keyring' || kind === 'sealing';
  const { findUser } = openUsers(target);
  return async ({ email, userId }) => {
    try {
      const user = await findUser(String(userId));
      return user !== undefined && emailsOf(user).includes(String(email));
    } catch (error) {
      if (!(error instanceof z.core.$ZodError)) throw error;
      warn(`user ${userId} is stored in a form that nobody reads: the credential is left out`);
      return false;
    }
  };
}

/**
 * Puts a sealing key back whose generation another key has by now, unless it is there: below all others, where it is never the one
 * in use. What it sealed names its id. Returns whether it did.
 */
async function putBelow(dynamo: Dynamo, both: RestoredTable, key: Item): Promise<boolean> {
  const keys = await readKeys(dynamo, both.table, 'sealing');
  if (keys.some(({ keyId }) => keyId === key.keyId)) return false;
  const generation = (keys[0]?.generation ?? 1) - 1;
  return (await putMissing(dynamo, both, { ...key, generation })) || putBelow(dynamo, both, key);
}

/** @throws {CliError} where a table is missing, or both have different keys. */
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
    if (isNamed(error, 'ResourceNotFoundException')) return undefined;
    throw error;
  }
}

function secondsOf({ clock }: Target): number {
  return Math.floor(clock.now() / 1_000);
}

function told({ restored, same, changed, missing, expired }: Comparison): string {
  return `Of ${restored} restored items ${same} are the same, ${changed} were changed since, ${missing} are missing, and ${expired} are missing and expired`;
}
