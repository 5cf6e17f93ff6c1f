/**
 * The least that a delivery takes, as a function of its own: for each message of a batch one read of both items, one POST
 * over a kept connection, one write of the same item as ours. No checks of any kind, no secrets, no signature, no log.
 */
import { Agent, request } from 'node:https';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { newDelivery, settled } from '../../lambdas/delivery/delivery.ts';
import { itemFromDelivery } from '../../lambdas/delivery/delivery-item.ts';
import { webhookKey } from '../../lambdas/webhooks/webhook.ts';

const { DELIVERIES_TABLE: deliveries = '', WEBHOOKS_TABLE: webhooks = '' } = process.env;
const documents = DynamoDBDocumentClient.from(new DynamoDBClient());
const agent = new Agent({ keepAlive: true });

const post = (url: string, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    request(url, { method: 'POST', agent, headers }, response => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end(body);
  });

const deliver = async ({ body: message, messageId }: SQSRecord): Promise<void> => {
  const { id_conta: accountId, event: evento, id_demanda } = JSON.parse(message);
  const id = `evt_${messageId}`;
  const { Responses } = await documents.send(
    new BatchGetCommand({
      RequestItems: {
        [deliveries]: { ConsistentRead: true, Keys: [{ id }] },
        [webhooks]: { ConsistentRead: true, Keys: [webhookKey(accountId, evento)] },
      },
    }),
  );
  const webhook = Responses?.[webhooks]?.[0];
  const body = JSON.stringify({ event: evento, id_demanda });
  const startedAt = Date.now();
  const status = await post(webhook?.url, body);
  const now = Date.now();
  const record = { numero: 1, iniciada_em: new Date(startedAt).toISOString(), duracao_ms: now - startedAt };
  const origin = { id, accountId, evento, webhookId: webhook?.webhookId, body, createdAt: startedAt };
  const attempts = [{ ...record, resultado: 'entregue' as const, status, resposta: '' }];
  const Item = itemFromDelivery(settled({ ...newDelivery(origin), attempt: 2, attempts }, 'entregue', now), 30);
  await documents.send(
    new PutCommand({ TableName: deliveries, Item, ConditionExpression: 'attribute_not_exists(id)' }),
  );
};

/** Delivers a batch, all of it at once. */
export const handler = async ({ Records }: SQSEvent): Promise<{ batchItemFailures: [] }> => {
  await Promise.all(Records.map(deliver));
  return { batchItemFailures: [] };
};
