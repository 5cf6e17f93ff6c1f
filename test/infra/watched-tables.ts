import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { composeRotateKeys } from '../../lambdas/auth/keys/rotate-keys.composition.ts';
import { smokeAccount } from '../../lambdas/auth/principals/account.ts';
import { type Delivery, newDelivery, settled } from '../../lambdas/delivery/delivery.ts';
import { slownessId } from '../../lambdas/delivery/isolation/slow-since.ts';
import { unknownSlowness, withSlowDns } from '../../lambdas/delivery/isolation/slowness.ts';
import { type StoredSlowness, slownessOf } from '../../lambdas/delivery/isolation/slowness-store.ts';
import { type Replay, replayIdOf } from '../../lambdas/delivery/replay/replay.ts';
import { replaysId } from '../../lambdas/delivery/replay/replay-store.ts';
import { itemFromDelivery, keysUntil, taskAttributes } from '../../lambdas/delivery/store/delivery-item.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import { waitingForSlot } from '../../lambdas/delivery/transitions.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { machine, type Outside } from '../../lambdas/platform/outside.ts';
import { makeSealing } from '../../lambdas/platform/sealing.ts';
import { makeTelemetry } from '../../lambdas/platform/telemetry.ts';
import { secretBinding } from '../../lambdas/webhooks/webhook.ts';
import { putAll } from '../support/database/put-all.ts';
import { aWebhook } from '../unit/delivery/builders.ts';

/** Puts into the tables of a stage what it begins with: its keys, a webhook, and that of smoke tests. Returns what puts more there, and reads it. */
export async function fillTables({ dynamo, kms }: Pick<Outside, 'dynamo' | 'kms'>) {
  const { now } = machine.time;
  await composeRotateKeys(keyRotation, { ...machine, dynamo, kms }, makeTelemetry('rotate-keys'))();
  const keyring = makeKeyring({ ...machine.time, dynamo, kms, table: 'Keyring' });
  const sealing = makeSealing(keyring, machine.random);
  for (const accountId of [owner.accountId, smokeAccount]) await register(accountId);
  return { slowDown, fillBacklog, fillFailed, beginReplay, slowness };

  async function register(accountId: string): Promise<void> {
    const sealed = await sealing.seal(secret, secretBinding(accountId, eventName));
    const createdAt = now();
    const { sealedAuthorization: _, ...webhook } = aWebhook({
      accountId,
      secrets: [{ sealed, createdAt }],
      createdAt,
      updatedAt: createdAt,
    });
    await dynamo(new PutCommand({ TableName: 'Webhooks', Item: webhook }));
  }

  /** Has the receiver found slow, and all slots of the next 90 s taken. */
  async function slowDown(): Promise<void> {
    await putSlowness();
  }

  /** The same, with so many deliveries in the table that wait for a slot since now. */
  async function fillBacklog(count: number): Promise<void> {
    await putSlowness({ backlogAt: now(), waitingAt: now(), ...taskAttributes(slownessId(owner), now()) });
    await fill(count, delivery => waitingForSlot(delivery, now()));
  }

  async function putSlowness(backlog: Item = {}): Promise<void> {
    const slots = { nextSlotAt: now() + 90_000, slotSeries: 0 };
    await put(slownessId(owner), {
      ...owner,
      ...withSlowDns(unknownSlowness, now()),
      ...slots,
      ...backlog,
      version: 1,
    });
  }

  /** Puts so many deliveries into the table that have failed. */
  async function fillFailed(count: number): Promise<void> {
    await fill(count, delivery => settled(delivery, 'failed', now() - 1));
  }

  async function fill(count: number, become: (delivery: Delivery) => Delivery): Promise<void> {
    const items = Array.from({ length: count }, () => {
      const createdAt = now() - 1;
      const origin = { ...owner, id: `evt_${randomId(27)}`, webhookId, body: '{}', createdAt };
      return itemFromDelivery(become(newDelivery(origin)));
    });
    await putAll(dynamo, 'Deliveries', items);
  }

  /** Begins a replay of what has failed so far, and leaves it to the sweeper. */
  async function beginReplay(): Promise<void> {
    const moment = now();
    const { id: replayId, ...replay }: Replay = {
      ...owner,
      id: replayIdOf(randomId(22)),
      webhookId,
      from: 0,
      to: moment,
      wanted: 'failed',
      state: 'running',
      startedAt: moment,
      total: 0,
      countCursor: keysUntil(moment),
      sent: 0,
      lastSlotAt: moment,
      sendCursor: keysUntil(moment),
      inFlight: [],
      nextSlotAt: moment,
      claim: 1,
      lookAt: moment + 20_000,
    };
    const id = replaysId(owner);
    await put(id, { ...replay, replayId, ...taskAttributes(id, replay.lookAt) });
  }

  async function put(id: string, attributes: Item): Promise<void> {
    const { table: TableName, key } = headKey('Deliveries', id);
    await dynamo(new PutCommand({ TableName, Item: { ...attributes, ...key } }));
  }

  async function slowness(): Promise<StoredSlowness> {
    const { table: TableName, key: Key } = headKey('Deliveries', slownessId(owner));
    const { Item } = await dynamo(new GetCommand({ TableName, Key }));
    return slownessOf(owner, Item);
  }
}

const { accountId, eventName, webhookId } = aWebhook();
const owner = { accountId, eventName };
const secret = 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0';

const keyRotation = {
  keyringTable: 'Keyring',
  keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
  signingAlgorithm: 'ES256',
} as const;
