import schema from '@asyncapi/specs/schemas/3.0.0.json' with { type: 'json' };
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { businessEvents } from '../../../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import { asyncApiDocument } from '../../../../tools/openapi/asyncapi.ts';

/** As a reader of the file sees it. */
const document = JSON.parse(JSON.stringify(asyncApiDocument(businessEvents)));

describe('the AsyncAPI document', () => {
  // The schema brings the meta-schema of draft-07 along, which is then not to be there twice.
  const ajv = new Ajv({ meta: false, strict: false, allErrors: true });
  formats.default(ajv);
  const isValid = ajv.compile(schema);

  it('is valid by the schema of AsyncAPI 3.0', () => {
    isValid(document);
    expect(isValid.errors).toBeNull();
  });

  it.each([
    [
      'an action that there is not',
      { operations: { x: { action: 'publish', channel: { $ref: '#/channels/deliveries' } } } },
    ],
    ['a queue without a name', { channels: { x: { bindings: { sqs: { queue: { fifoQueue: false } } } } } }],
    ['a payload that is no schema', { components: { messages: { x: { payload: { type: 'text' } } } } }],
  ])('would not be with %s', (_what, changes) => {
    expect(isValid({ ...document, ...changes })).toBe(false);
  });

  it('refers to nothing that is not in it', () => {
    const targets = references(document);
    expect(targets.length).toBeGreaterThan(20);
    for (const target of targets) expect(at(target), target).toBeDefined();
  });

  it.each([
    ['eventsQueue', 'message'],
    ['deliveries', 'delivery'],
  ])('has each event in %s', (channel, kind) => {
    for (const event of EVENT_NAMES) {
      expect(at(`#/channels/${channel}/messages/${event}/$ref`)).toBe(`#/components/messages/${event}.${kind}`);
      expect(at(`#/components/messages/${event}.${kind}/payload/properties/event/const`)).toBe(event);
    }
  });
});

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : references(inner)));
}

/** Returns the part of the document that a reference leads to. */
function at(reference: string): unknown {
  const names = reference.replace('#/', '').split('/');
  return names.reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
}
