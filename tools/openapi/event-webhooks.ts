import { deliveryIdForm } from '../../lambdas/delivery/delivery.ts';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { ref, type SchemaName } from './description.ts';
import { anyDeliverySchema, deliverySchema, exampleBody } from './event-schemas.ts';
import type { Schema } from './plain-schemas.ts';

/**
 * Returns the deliveries to receivers, with their headers and possible responses. There is a POST for any event, and one for
 * each current event.
 */
export function eventWebhooks(events: EventFormat): Record<string, object> {
  const samples = EVENT_NAMES.map(name => [name, { summary: `Event ${name}`, value: exampleBody(events, name) }]);
  return {
    event: { post: deliveryOf('deliver', 'Any event', 'Event', Object.fromEntries(samples)) },
    ...Object.fromEntries(EVENT_NAMES.map(name => [name, { post: deliveryOfEvent(events, name) }])),
  };
}

/** Returns the body schemas of all events, by name under `components`. */
export function eventBodies(events: EventFormat): Record<string, Schema> {
  const named = EVENT_NAMES.map(name => [`Event.${name}`, { ...deliverySchema(events, name), title: name }]);
  return { Event: anyDeliverySchema(events), ...Object.fromEntries(named) };
}

/**
 * The headers of each delivery. OpenAPI ignores parameters with the names `Authorization`, `Content-Type` and `Accept`. The
 * document describes them in a security scheme, in the body, and in the operation's description.
 */
const deliveryHeaders = [
  header(
    'webhook-id',
    'The id of the event, which is the same in each attempt. Store it, and ignore deliveries with an id that you already received. The id of a test starts with `teste_`.',
    { type: 'string', pattern: deliveryIdForm.source },
    'evt_9X_mdX4siXAultLQKJ__GcYg8ys',
  ),
  header(
    'webhook-timestamp',
    'The start of the attempt, in seconds since the epoch. Reject values that differ from your clock by more than five minutes.',
    { type: 'string', pattern: '^[0-9]{10}$' },
    '1795181091',
  ),
  header(
    'webhook-signature',
    'One signature for each active secret, separated by spaces. A signature is `v1,` followed by the base64-encoded HMAC-SHA-256 of `webhook-id.webhook-timestamp.body` (Standard Webhooks).',
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
  const test = { summary: 'The sample that a test sends', value };
  return deliveryOf(`deliver.${name}`, `Event ${name}`, `Event.${name}`, { test });
}

function deliveryOf(operationId: string, summary: string, schema: SchemaName, examples: object): object {
  return {
    operationId,
    // Without `x-internal`, generators create a client that sends deliveries, and the Python client does not compile.
    // With it, they still create the body classes.
    'x-internal': true,
    tags: ['Events'],
    summary,
    description:
      'A POST to the registered URL of the event. Verify the signature, store the event, and respond within 15 seconds. Events may arrive more than once and in any order. The request has the header `Accept: */*`.',
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
      '2XX': { description: 'The event is delivered. The service ignores the body.' },
      '410': {
        description:
          'The receiver no longer accepts the event. The service suspends the webhook immediately (`gone`), except after a test.',
      },
      '429': later,
      '503': later,
      default: { description: 'The service makes ten attempts over about three days, and does not follow redirects.' },
    },
  };
}

const later = {
  description: 'The service retries after the time in `Retry-After`, but within 24 hours.',
  headers: {
    'Retry-After': { description: 'A number of seconds, or an HTTP date.', schema: { type: 'string' }, example: '120' },
  },
};
