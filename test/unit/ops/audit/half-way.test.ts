import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, expect, it } from 'vitest';
import { openAuditLog } from '../../../../ops/audit/audit-log.ts';
import { discardLetters, redriveLetters } from '../../../../ops/deliveries/dlq.command.ts';
import { copyMissing } from '../../../../ops/deployment/tables.command.ts';
import { openQueues } from '../../../../ops/stage/queues.ts';
import { localTarget, type Task } from '../../../../ops/stage/target.ts';
import { deleteAccount } from '../../../../ops/tenants/accounts.command.ts';
import { tableDefinition } from '../../../../tools/support/tables.ts';
import { startOperatedTables } from '../../../support/operated-tables.ts';
import { aWebhook } from '../../delivery/builders.ts';
import { aTask } from '../a-task.ts';
import { interrupt, targetFailingAt } from '../target-failing-at.ts';

const operated = await startOperatedTables();
afterAll(() => operated.stop());

const put = (TableName: string, Item: object) => operated.database.dynamo(new PutCommand({ TableName, Item }));
const putLetters = (): Promise<string[]> => {
  const { send } = openQueues(localTarget(operated.outputs));
  const event = { id_conta: 'acme', event: 'demanda.criada' };
  const letters = [1, 2].map(id_demanda => JSON.stringify({ ...event, id_demanda }));
  return Promise.all(letters.map(letter => send('DeadLetterQueueUrl', letter, 'acme')));
};

const acts: Record<string, (task: Task, items?: number) => Promise<unknown>> = {
  'dlq redrive': async task => redriveLetters.act(task, { ids: await putLetters(), rate: 1_000, limit: 10 }),
  'dlq discard': async task => discardLetters.act(task, { ids: await putLetters() }),
  'tables copy': async (task, items = 2) => {
    const [TableName, { client }] = [`Clients-restored-${items}`, operated.database];
    const definition = { BillingMode: 'PAY_PER_REQUEST', ...tableDefinition('Clients') } as const;
    await client.send(new CreateTableCommand({ TableName, ...definition }));
    await waitUntilTableExists({ client, minDelay: 1, maxDelay: 1, maxWaitTime: 10 }, { TableName });
    for (let item = 0; item < items; item++) await put(TableName, { clientId: `${items}-${item}` });
    await copyMissing.act(task, { table: 'clients', restored: TableName });
  },
  'accounts delete': async (task, items = 2) => {
    const user = ['--email', `ana${items}@example.com`, '--account', 'acme', '--role', 'admin'];
    await operated.ask(['users', 'create', ...user], 'a password of enough characters');
    await put('Webhooks', aWebhook({ accountId: 'acme' }));
    await deleteAccount.act(task, { account: 'acme' });
  },
};

// Bug: the line of a command that failed named nothing of what it had done, unless it imported or replayed.
it.each([
  ['dlq redrive', 'SendMessageCommand', 2, { count: 1 }],
  ['dlq discard', 'DeleteMessageCommand', 2, { count: 1 }],
  ['tables copy', 'PutCommand', 2, { count: 1 }],
  ['accounts delete', 'TransactWriteCommand', 1, { count: 1 }],
])('%s that fails at %s %i names what was done, in its line and to the operator', async (command, at, nth, done) => {
  const target = targetFailingAt(operated.outputs, at, nth);
  const warnings: string[] = [];
  const failed = acts[command]?.(aTask(target, { warn: text => void warnings.push(text) }));
  await expect(failed).rejects.toThrow('it ended half-way');
  const lines = await openAuditLog(target).list(0, 100);
  const parts = command.startsWith('dlq') ? [{ messages: [expect.any(String)] }] : [];
  expect(lines.find(line => line.command === command)).toMatchObject({ outcome: 'failed', target: done, parts });
  expect(warnings).toEqual([expect.stringContaining(Object.values(done).join())]);
});

// Bug: after Ctrl-C the line stood as begun for ever, and named nothing of what had been done.
it.each([
  ['tables copy', 'PutCommand'],
  ['accounts delete', 'TransactWriteCommand'],
])('%s that is interrupted at %s ends as failed, and names what was done', async (command, at) => {
  const target = targetFailingAt(operated.outputs, at, 1, interrupt);
  await expect(acts[command]?.(aTask(target), 200)).rejects.toThrow(/^interrupted: the same command again goes on/);
  const [line] = await openAuditLog(target).list(0, 1);
  expect(line).toMatchObject({ command, outcome: 'failed', target: { count: expect.any(Number) } });
});
