import { newDelivery, testIdOf } from '../../lambdas/delivery/delivery.ts';
import { sampleBody } from '../../lambdas/delivery/intake/event.ts';
import { dueNow } from '../../lambdas/delivery/transitions.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { openRetryQueue } from '../stage/queues.ts';
import { openDeliveries } from '../stage/stores.ts';
import { requireOutput } from '../stage/target.ts';
import { noWebhook, type Registration } from './webhooks.ts';

/** Sends one attempt of a sample event. Returns the delivery id. @throws {CliError} if the webhook does not exist. */
export async function sendTest({ target, recordResult }: AuditedTask, registration: Registration): Promise<string> {
  const { account: accountId, event: eventName } = registration;
  const { create, findWebhook } = openDeliveries(target);
  const webhook = await findWebhook(accountId, eventName);
  if (!webhook) throw noWebhook(registration);
  if (webhook.suspensionReason === 'operator') {
    throw new CliError('An operator suspended the webhook. Only an operator can reactivate it.');
  }
  const now = target.clock.now();
  const body = sampleBody(eventName, requireOutput(target, 'DemandsUrl'));
  const { webhookId } = webhook;
  const id = testIdOf(target.makeId(22));
  const delivery = dueNow(newDelivery({ accountId, eventName, webhookId, body, createdAt: now, id }), now);
  await create(delivery);
  recordResult({ delivery: id });
  await openRetryQueue(target).send(delivery);
  return id;
}
