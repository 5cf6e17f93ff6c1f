import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAuditLog } from '../../../../ops/audit/audit-log.ts';
import { discardLetters, redriveLetters } from '../../../../ops/deliveries/dlq.command.ts';
import { copyMissing } from '../../../../ops/deployment/tables.command.ts';
import { rotateKeys } from '../../../../ops/keys/keys.command.ts';
import { openQueues } from '../../../../ops/stage/queues.ts';
import { localTarget, type Target, type Task } from '../../../../ops/stage/target.ts';
import { thisWorld } from '../../../../ops/stage/world.ts';
import { deleteAccount } from '../../../../ops/tenants/accounts.command.ts';
import { tableDefinition } from '../../../../tools/support/tables.ts';
import { type OperatedTables, startOperatedTables } from '../../../support/operated-tables.ts';
import { aWebhook } from '../../delivery/builders.ts';
import { aTask } from '../a-task.ts';

let operated: OperatedTables;
beforeAll(async () => {
  operated = await startOperatedTables();
});
afterAll(() => operated.stop());

/** The tables at which the nth command of a name fails. */
const failingAt = (name: string, nth: number): Target => {
  let calls = 0;
  const failing = <Client extends object>(made: Client): Client => {
    const client = made as { send: (command: object) => Promise<unknown> };
    const send = client.send.bind(client);
    client.send = async (command: object) => {
      if (command.constructor.name === name && ++calls === nth) throw new Error('it ended half-way');
      return send(command);
    };
    return made;
  };
  return localTarget(operated.outputs, {
    ...thisWorld,
    makeClient: (Service, settings) => failing(thisWorld.makeClient(Service, settings)),
    makeDocumentClient: settings => failing(thisWorld.makeDocumentClient(settings)),
  });
};
const put = (TableName: string, Item: object) => operated.database.dynamo(new PutCommand({ TableName, Item }));
const putLetters = async (): Promise<string[]> => {
  const { send } = openQueues(localTarget(operated.outputs));
  const event = { id_conta: 'acme', event: 'demanda.criada', id_demanda: 1 };
  return [
    await send('DeadLetterQueueUrl', JSON.stringify(event), 'acme'),
    await send('DeadLetterQueueUrl', JSON.stringify({ ...event, id_demanda: 2 }), 'acme'),
  ];
};

// Bug: the line of a command that failed named nothing of what it had done, unless it imported or replayed.
it.each<[command: string, fails: [at: string, nth: number], done: object, act: (task: Task) => Promise<unknown>]>([
  [
    'keys rotate',
    ['GenerateDataKeyWithoutPlaintextCommand', 1],
    { keys: ['signing made 2, deleted 1'] },
    task => rotateKeys.act(task, { now: true, revoke: true }),
  ],
  [
    'dlq redrive',
    ['SendMessageCommand', 2],
    { count: 1 },
    async task => {
      await putLetters();
      await redriveLetters.act(task, { ids: [], rate: 1_000, limit: 10 });
    },
  ],
  [
    'dlq discard',
    ['DeleteMessageCommand', 2],
    { count: 1 },
    async task => discardLetters.act(task, { ids: await putLetters() }),
  ],
  [
    'tables copy',
    ['PutCommand', 2],
    { count: 1 },
    async task => {
      const TableName = 'Clients-restored';
      await operated.database.client.send(
        new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...tableDefinition('Clients') }),
      );
      await waitUntilTableExists(
        { client: operated.database.client, minDelay: 1, maxDelay: 1, maxWaitTime: 10 },
        { TableName },
      );
      for (const clientId of ['one', 'two']) await put(TableName, { clientId });
      await copyMissing.act(task, { table: 'clients', restored: TableName });
    },
  ],
  [
    'accounts delete',
    ['DeleteCommand', 1],
    { count: 1 },
    async task => {
      await operated.ask(
        ['users', 'create', '--email', 'ana@example.com', '--account', 'acme', '--role', 'admin'],
        'a password of enough characters',
      );
      await put('Webhooks', aWebhook({ accountId: 'acme' }));
      await deleteAccount.act(task, { account: 'acme' });
    },
  ],
])(
  '%s that fails half-way names what was done, in its line and to the operator',
  async (command, [at, nth], done, act) => {
    const target = failingAt(at, nth);
    const warnings: string[] = [];
    await expect(act(aTask(target, { warn: text => void warnings.push(text) }))).rejects.toThrow('it ended half-way');
    const lines = await openAuditLog(target).list(0, 100);
    expect(lines.find(line => line.command === command)).toMatchObject({ outcome: 'failed', target: done });
    expect(warnings).toEqual([expect.stringContaining(Object.values(done).join())]);
  },
);
