import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES, isEventName } from '../../../lambdas/webhooks/webhook.ts';
import { findingsOf, webhookIdOf } from '../../../packages/publisher/src/index.ts';
import { messageOf } from '../../../packages/publisher/src/message.ts';
import { eventSchemaFiles } from '../../../tools/openapi/event-schemas.ts';
import { anyMessageOf } from '../../support/any-message.ts';
import { vectors } from '../../support/event-vectors.ts';

const { refused, unknownFields } = vectors;
const examples = EVENT_NAMES.map(event => ({
  case: event,
  message: businessEvents.message(event, { id_conta: 'acme', id: 'example-1' }, businessEvents.exampleValues),
  webhookId: undefined,
}));
const accepted = [...examples, ...vectors.accepted];
const named = <Vector extends { readonly case: string }>(list: readonly Vector[]) =>
  list.map(vector => [vector.case, vector] as const);
const service = (message: unknown) =>
  parseEventMessage(JSON.stringify(message), 'message-1', 'https://demandas.example.com');

/** Returns the message that a publisher would send, if it is valid. */
const sent = (message: unknown) => messageOf(message as Parameters<typeof messageOf>[0], 0, () => 'made');

/** Judges messages by the published JSON Schema of their event. */
const ajv = new Ajv2020({ allErrors: true });
formats.default(ajv);
const schemas = new Map(eventSchemaFiles(businessEvents).map(([file, schema]) => [file, ajv.compile(schema)]));
const meetsSchema = (message: unknown) => {
  const event = typeof message === 'object' && message !== null && 'event' in message ? message.event : undefined;
  return (
    typeof event === 'string' &&
    isEventName(event) &&
    schemas.get(`docs/api/events/${event}.message.json`)?.(message) === true
  );
};

describe('what the service accepts', () => {
  it.each(named(accepted))('%s: is accepted by schema and publisher, too', (_case, { message, webhookId }) => {
    expect(service(message).outcome).toBe('event');
    expect(meetsSchema(message)).toBe(true);
    expect(findingsOf(message)).toEqual([]);
    const parsed = parseEventMessage(sent(message).body, 'message-1', 'https://demandas.example.com');
    expect(parsed).toMatchObject({ outcome: 'event', event: { deliveryId: sent(message).webhookId } });
    if (webhookId !== undefined) expect(sent(message).webhookId).toBe(webhookId);
  });
});

describe('what the service refuses', () => {
  it.each(named(refused))(
    '%s: is refused by schema and publisher, in the same words',
    (_case, { message, findings }) => {
      const texts = findings.map(({ field, reason }) => (field ? `${field}: ${reason}` : reason));
      const parsed = service(message);
      // The service says twice what is wrong with a number below -(2^53 - 1).
      const details = parsed.outcome === 'rejected' ? [...new Set(parsed.detail.split('; '))] : [];
      expect(details).toEqual(texts);
      expect(meetsSchema(message)).toBe(false);
      expect(findingsOf(message)).toEqual(findings);
    },
  );
});

describe('fields that the event does not have', () => {
  it.each(named(unknownFields))(
    '%s: the service ignores it, a publisher refuses it',
    (_case, { message, findings }) => {
      expect(service(message).outcome).toBe('event');
      expect(meetsSchema(message)).toBe(true);
      expect(findingsOf(message)).toEqual(findings);
    },
  );
});

describe('any message', () => {
  it('is accepted by the service and its schema where the publisher accepts it, under the same webhook-id', () => {
    let published = 0;
    fc.assert(
      fc.property(anyMessageOf(businessEvents), given => {
        if (findingsOf(given).length > 0) return;
        published += 1;
        const { body, webhookId } = sent(given);
        expect(parseEventMessage(body, 'm', 'https://d')).toMatchObject({
          outcome: 'event',
          event: { deliveryId: webhookId },
        });
        expect(meetsSchema(JSON.parse(body))).toBe(true);
        expect(body).toMatch(/^[ -~]+$/);
      }),
      { numRuns: 2_000 },
    );
    expect(published).toBeGreaterThan(100);
  });

  it.each(EVENT_NAMES)('%s: is at most 8 KiB, so that ten are far from the 1 MiB of a request', event => {
    const longest = Object.entries(businessEvents.fields).map(([name, field]) => [
      name,
      field.kind === 'integer' ? Number.MAX_SAFE_INTEGER : '💧'.repeat(field.maxLength),
    ]);
    const values = Object.fromEntries(longest);
    const message = businessEvents.message(event, { id_conta: 'x'.repeat(64), id: '💧'.repeat(128) }, values);
    expect(sent(message).body.length).toBeLessThanOrEqual(8_192);
  });
});

describe('the webhook-id', () => {
  it('of account, event and id is what OpenSSL makes of their JSON', () => {
    // printf '["acme","demanda.criada","\xf0\x9f\x92\xa7"]' | openssl dgst -sha256 -binary | base64
    expect(webhookIdOf('acme', 'demanda.criada', '💧')).toBe('evt_po2XwIv1yKlxspsyzM9c-pVGsHE');
  });
});
