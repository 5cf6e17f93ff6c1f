import { SQSClient } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import type { EventField } from '../../lambdas/delivery/intake/event-field.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { type BusinessEvent, createPublisher, findingsOf } from '../../packages/publisher/src/publisher.ts';

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

/** Texts of all characters, also those that SQS does not take and surrogates that are alone, and values that are no texts. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 130 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 140 }).map(units => String.fromCharCode(...units)),
  fc.integer(),
  fc.double(),
  fc.jsonValue(),
  fc.constant(undefined),
);

// The package checks messages before it sends them, by the rules of the service's intake.
describe('the publisher agrees with the service', () => {
  it.each(EVENT_NAMES)('on %s', async name => {
    const message = businessEvents.message(name, { id_conta: 'acme', id: 'example-1' }, businessEvents.exampleValues);
    const { webhookId } = await publish(message as unknown as BusinessEvent);
    expect(service(sent)).toMatchObject({ outcome: 'event', event: { deliveryId: webhookId } });
  });

  it('on any message: it sends what the service accepts, under the same webhook-id, and finds the same faults', async () => {
    let published = 0;
    const property = fc.asyncProperty(anyMessage(), async given => {
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

/** Messages as publishers may be given them: some are events, most have something wrong. */
function anyMessage(): fc.Arbitrary<unknown> {
  const values = Object.entries(businessEvents.fields).map(([name, field]) => [name, valuesLike(field)] as const);
  return fc.constantFrom(...EVENT_NAMES).chain(event => {
    const fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      ...Object.fromEntries(values),
      id_conta: oftenGood(fc.constantFrom('acme', 'conta_1-A')),
      event: oftenGood(fc.constant(event)),
      id: anything,
    };
    const names = ['id_conta', 'event', 'id', ...businessEvents.rows[event].fields];
    const own = Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
    const requiredKeys = names.filter(name => name !== 'id' && !businessEvents.fields[name]?.optional);
    return fc.oneof(
      fc.record(own, { requiredKeys }),
      fc.record(fields, { requiredKeys }),
      fc.record(fields, { requiredKeys: ['event'] }),
    );
  });
}

function valuesLike(field: EventField): fc.Arbitrary<unknown> {
  if (field.kind === 'integer') return oftenGood(fc.maxSafeNat());
  const { maxLength, pattern } = field;
  const longest = fc.string({ unit: 'grapheme', minLength: maxLength - 1, maxLength: maxLength + 2 });
  const fitting = pattern ? fc.stringMatching(pattern) : fc.string({ maxLength });
  const nearly = fitting.map(text => `${text}\n`);
  return oftenGood(fc.oneof(fc.constant(field.example), fitting, nearly, longest));
}

function oftenGood<Value>(good: fc.Arbitrary<Value>) {
  return fc.oneof({ arbitrary: good, weight: 6 }, { arbitrary: anything, weight: 1 });
}
