import { SQSClient } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import type { EventField } from '../../lambdas/delivery/intake/event-field.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { type BusinessEvent, createPublisher, findingsOf } from '../../packages/publisher/src/publisher.ts';

const parseBody = (body: string) => parseEventMessage(body, 'message-1', 'https://demandas.example.com');

let sentBody = '';
const client = new SQSClient({ region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } });
client.middlewareStack.add(
  () => async args => {
    ({ MessageBody: sentBody } = args.input as unknown as { readonly MessageBody: string });
    return { response: {}, output: { $metadata: {}, MessageId: 'message-1' } };
  },
  { step: 'initialize' },
);
const { publish } = createPublisher({ queueUrl: 'https://queue.example.com', client });

/** Strings of any characters, including lone surrogates and characters that SQS rejects, and values that are not strings. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 130 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 140 }).map(units => String.fromCharCode(...units)),
  fc.integer(),
  fc.double(),
  fc.jsonValue(),
  fc.constant(undefined),
);

// Before the package sends a message, it applies the rules of the service's intake.
describe('the publisher agrees with the service', () => {
  it.each(EVENT_NAMES)('on %s', async name => {
    const message = businessEvents.message(name, { id_conta: 'acme', id: 'example-1' }, businessEvents.exampleValues);
    const { webhookId } = await publish(message as unknown as BusinessEvent);
    expect(parseBody(sentBody)).toMatchObject({ outcome: 'event', event: { deliveryId: webhookId } });
  });

  it('on the validity, webhook-id and findings of any message', async () => {
    let published = 0;
    const property = fc.asyncProperty(anyMessage(), async input => {
      const message = JSON.parse(JSON.stringify(input));
      const parsed = parseBody(JSON.stringify(message));
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
      expect(parseBody(sentBody)).toMatchObject({ outcome: 'event', event: { deliveryId: webhookId } });
      expect(sentBody).toMatch(/^[ -~]+$/);
    });
    await fc.assert(property, { numRuns: 2_000 });
    expect(published).toBeGreaterThan(100);
  });
});

/** Returns messages that callers may pass to the publisher. Most of them are invalid. */
function anyMessage(): fc.Arbitrary<unknown> {
  const values = Object.entries(businessEvents.fields).map(([name, field]) => [name, valuesLike(field)] as const);
  return fc.constantFrom(...EVENT_NAMES).chain(event => {
    const fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      ...Object.fromEntries(values),
      id_conta: mostlyValid(fc.constantFrom('acme', 'conta_1-A')),
      event: mostlyValid(fc.constant(event)),
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
  if (field.kind === 'integer') return mostlyValid(fc.maxSafeNat());
  const { maxLength, pattern } = field;
  const nearMaximum = fc.string({ unit: 'grapheme', minLength: maxLength - 1, maxLength: maxLength + 2 });
  const valid = pattern ? fc.stringMatching(pattern) : fc.string({ maxLength });
  const withNewline = valid.map(text => `${text}\n`);
  return mostlyValid(fc.oneof(fc.constant(field.example), valid, withNewline, nearMaximum));
}

function mostlyValid<Value>(valid: fc.Arbitrary<Value>) {
  return fc.oneof({ arbitrary: valid, weight: 6 }, { arbitrary: anything, weight: 1 });
}
