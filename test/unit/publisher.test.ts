import { SQSClient } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { type BusinessEvent, createPublisher, findingsOf } from '../../packages/publisher/src/publisher.ts';
import { anyMessageOf } from './any-message.ts';

const service = (body: string) => parseEventMessage(body, 'message-1', 'https://demandas.example.com');

let sent = '';
const client = new SQSClient({ region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } });
client.middlewareStack.add(
  () => async args => {
    ({ MessageBody: sent } = args.input as unknown as { readonly MessageBody: string });
    return { response: {}, output: { $metadata: {}, MessageId: 'message-1' } };
  },
  { step: 'initialize' },
);
const { publish } = createPublisher({ queueUrl: 'https://queue.example.com', client });

describe('the publisher agrees with the service', () => {
  it.each(EVENT_NAMES)('on %s', async name => {
    const message = businessEvents.message(name, { id_conta: 'acme', id: 'example-1' }, businessEvents.exampleValues);
    const { webhookId } = await publish(message as unknown as BusinessEvent);
    expect(service(sent)).toMatchObject({ outcome: 'event', event: { deliveryId: webhookId } });
  });

  it('on any message: it sends what the service accepts, under the same webhook-id, and finds the same faults', async () => {
    let published = 0;
    const property = fc.asyncProperty(anyMessageOf(businessEvents), async given => {
      const message = JSON.parse(JSON.stringify(given));
      const parsed = service(JSON.stringify(message));
      const findings = findingsOf(message).filter(finding => !finding.endsWith('is not a field of this event'));
      if (parsed.outcome === 'rejected') {
        if (typeof message.event === 'string') expect(findings).toEqual([...new Set(parsed.detail.split('; '))]);
        else expect(findings).not.toEqual([]);
        return;
      }
      expect(findings).toEqual([]);
      if (findingsOf(message).length > 0) return;
      published += 1;
      const { webhookId } = await publish(message);
      expect(service(sent)).toMatchObject({ outcome: 'event', event: { deliveryId: webhookId } });
      expect(sent).toMatch(/^[ -~]+$/);
    });
    await fc.assert(property, { numRuns: 2_000 });
    expect(published).toBeGreaterThan(100);
  });
});
