import { describe, expect, it } from 'vitest';
import { makeClientStore } from '../../../lambdas/auth/principals/client-store.ts';
import { makeUserStore } from '../../../lambdas/auth/principals/user-store.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { makeWebhookStore } from '../../../lambdas/webhooks/webhook-store.ts';
import { frozenClock } from '../../support/clock.ts';

describe('every store', () => {
  it('reads its tables consistently', async () => {
    const reads: { name: string; input: { ConsistentRead?: boolean } }[] = [];
    const dynamo = (async (command: { constructor: { name: string }; input: object }) => {
      if (/^(Get|Query|Scan)/.test(command.constructor.name))
        reads.push({ name: command.constructor.name, input: command.input });
      return { Items: [] };
    }) as never;
    const effects = { ...frozenClock().time, makeId: randomId, hash: async () => '' };
    await makeWebhookStore({ dynamo, table: 'W' }).find('a', 'demanda.criada');
    await makeWebhookStore({ dynamo, table: 'W' }).list('a');
    await makeKeyring({ ...effects, dynamo, table: 'K' }).list('mac');
    await makeClientStore({ ...effects, dynamo, table: 'C' }).findClient('c');
    await makeUserStore({ ...effects, dynamo, tables: { users: 'U', credentials: 'L' } }).findUser('u');
    expect(reads.map(({ name }) => name)).toHaveLength(5);
    for (const { name, input } of reads) expect(input.ConsistentRead, name).toBe(true);
  });
});
