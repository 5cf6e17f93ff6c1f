import { deliveryIdForm } from '../../lambdas/delivery/delivery.ts';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { ref, type SchemaName } from './description.ts';
import { anyDeliverySchema, deliverySchema, exampleBody } from './event-schemas.ts';
import type { Schema } from './plain-schemas.ts';

/**
 * Returns the deliveries to receivers, with their headers and the possible responses. There is one POST for any event, and one
 * for each current event.
 */
export function eventWebhooks(events: EventFormat): Record<string, object> {
  const samples = EVENT_NAMES.map(name => [name, { summary: `Event ${name}`, value: exampleBody(events, name) }]);
  return {
    event: { post: deliveryOf('deliver', 'Any event', 'Event', Object.fromEntries(samples)) },
    ...Object.fromEntries(EVENT_NAMES.map(name => [name, { post: deliveryOfEvent(events, name) }])),
  };
}

/** Returns the schemas of the bodies of all events, by their name under `components`. */
export function eventBodies(events: EventFormat): Record<string, Schema> {
  const named = EVENT_NAMES.map(name => [`Event.${name}`, { ...deliverySchema(events, name), title: name }]);
  return { Event: anyDeliverySchema(events), ...Object.fromEntries(named) };
}

/**
 * The headers of each delivery. `Authorization` is a security scheme, `Content-Type` is with the body, and the
 * operation's description names `Accept`, because OpenAPI ignores parameters with these names.
 */
const deliveryHeaders = [
  header(
    'webhook-id',
    'The id of the event. It is the same in each repetition: store it, and ignore ids that you have already received. That of a test starts with `teste_`.',
    { type: 'string', pattern: deliveryIdForm.source },
    'evt_9X_mdX4siXAultLQKJ__GcYg8ys',
  ),
  header(
    'webhook-timestamp',
    'When the attempt started, in seconds since the epoch. Reject values that differ from your clock by more than five minutes.',
    { type: 'string', pattern: '^[0-9]{10}$' },
    '1795181091',
  ),
  header(
    'webhook-signature',
    'One signature for each active secret, separated by spaces: `v1,` and the base64 of HMAC-SHA-256 over `webhook-id.webhook-timestamp.body` (Standard Webhooks).',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=(?: v1,[A-Za-z0-9+/]{43}=){0,4}$' },
    'v1,rsgB5n9tLejWj3To5KZ8xB1HrRJt1PU/tYqg7L1E0Ko=',
  ),
  header('Accept-Encoding', 'Responses must not be compressed.', { type: 'string', const: 'identity' }, 'identity'),
  header('User-Agent', 'The version of the service.', { type: 'string', pattern: '^Emissor/' }, 'Emissor/0.2.0'),
];

function header(name: string, description: string, schema: Schema, example: string) {
  return { name, in: 'header', required: true, description, schema, example };
}

function deliveryOfEvent(events: EventFormat, name: EventName): object {
  const value = JSON.parse(events.body(name, events.sampleValues, 'https://demandas.example.com'));
  const test = { summary: 'The sample that tests send', value };
  return deliveryOf(`deliver.${name}`, `Event ${name}`, `Event.${name}`, { test });
}

function deliveryOf(operationId: string, summary: string, schema: SchemaName, examples: object): object {
  return {
    operationId,
    // Otherwise generators create a client that sends deliveries, which does not compile in Python. The bodies are
    // generated in any case.
    'x-internal': true,
    tags: ['Events'],
    summary,
    description:
      'A POST to the registered URL of the event. Verify its signature, store it, and respond within 15 seconds. It may arrive more than once, and in any order. It has the header `Accept: */*`.',
    security: [{ receiverAuthorization: [] }, {}],
    parameters: deliveryHeaders,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: ref(schema),
          examples,
        },
      },
    },
    responses: {
      '2XX': { description: 'Delivered, regardless of the body.' },
      '410': {
        description:
          'The receiver no longer wants the event: the webhook is suspended at once (`gone`), except by the response to a test.',
      },
      '429': later,
      '503': later,
      default: { description: 'Retried: ten attempts over about three days. Redirects are not followed.' },
    },
  };
}

const later = {
  description: 'Retried, no earlier than `Retry-After` requires, and within 24 hours.',
  headers: {
    'Retry-After': { description: 'Seconds, or an HTTP date.', schema: { type: 'string' }, example: '120' },
  },
};
