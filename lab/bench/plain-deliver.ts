/**
 * The least that a delivery takes, as a function of its own: one read of all items for a batch of at most fifty messages,
 * and for each message one POST over a kept connection and one write of the same item as ours. No checks of any kind, no
 * secrets, no signature, no log.
 */
import { Resolver } from 'node:dns/promises';
import { Agent, request } from 'node:https';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { newDelivery, settled } from '../../lambdas/delivery/delivery.ts';
import { itemFromDelivery } from '../../lambdas/delivery/store/delivery-item.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { type EventName, webhookKey } from '../../lambdas/webhooks/webhook.ts';

/** Delivers a batch, all of it at once. */
export async function handler({ Records }: SQSEvent): Promise<{ batchItemFailures: [] }> {
  const messages = Records.map(parse);
  const known = await findWebhooks(messages);
  await Promise.all(messages.map(message => deliver(message, known)));
  return { batchItemFailures: [] };
}

function parse({ body, messageId }: SQSRecord): Message {
  const { id_conta: accountId, event: eventName, id_demanda } = JSON.parse(body);
  return { id: `evt_${messageId}`, accountId, eventName, id_demanda };
}

/** Finds the webhooks of messages, and asks for their deliveries too, as somebody must who does not repeat them. */
async function findWebhooks(messages: readonly Message[]) {
  const keys = messages.map(({ accountId, eventName }) => webhookKey(accountId, eventName));
  const distinct = new Map(keys.map(key => [JSON.stringify(key), key]));
  const { Responses } = await dynamo.send(
    new BatchGetCommand({
      RequestItems: {
        [deliveries]: { ConsistentRead: true, Keys: messages.map(({ id }) => headKey(deliveries, id).key) },
        [webhooks]: { ConsistentRead: true, Keys: [...distinct.values()] },
      },
    }),
  );
  return Responses?.[webhooks] ?? [];
}

async function deliver({ id, accountId, eventName, id_demanda }: Message, known: readonly Item[]): Promise<void> {
  const webhook = known.find(item => item.accountId === accountId && item.eventName === eventName);
  if (!webhook) throw new Error('There is no such webhook.');
  const body = JSON.stringify({ event: eventName, id_demanda });
  const startedAt = Date.now();
  const status = await post(String(webhook.url), body);
  const now = Date.now();
  const record = { number: 1, startedAt: new Date(startedAt).toISOString(), durationMs: now - startedAt };
  const origin = { id, accountId, eventName, webhookId: String(webhook.webhookId), body, createdAt: startedAt };
  const attempts = [{ ...record, result: 'delivered' as const, status, response: '' }];
  const Item = itemFromDelivery(settled({ ...newDelivery(origin), attempt: 2, attempts }, 'delivered', now), 30);
  await dynamo.send(new PutCommand({ TableName: deliveries, Item, ConditionExpression: 'attribute_not_exists(id)' }));
}

interface Message {
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  readonly id_demanda: number;
}

const dynamo = DynamoDBDocumentClient.from(new DynamoDBClient(), {
  marshallOptions: { removeUndefinedValues: true },
});

const { DELIVERIES_TABLE: deliveries = '', WEBHOOKS_TABLE: webhooks = '' } = process.env;

function post(url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    request(url, { method: 'POST', agent, headers }, response => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end(body);
  });
}

/** Names are asked for in the same way as by the function that it is compared with. */
const agent = new Agent({
  keepAlive: true,
  lookup: (name, _options, callback) => {
    new Resolver().resolve4(name).then(
      found =>
        callback(
          null,
          found.map(address => ({ address, family: 4 })),
        ),
      error => callback(error, []),
    );
  },
});
