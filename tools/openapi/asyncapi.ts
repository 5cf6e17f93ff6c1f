import * as z from 'zod';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { refusalNotice, suppressedRefusals } from '../../lambdas/delivery/refusals/refusal-notice.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { deliverySchema, messageSchema } from './event-schemas.ts';
import { deliveryHeaders } from './event-webhooks.ts';
import { opened } from './plain-schemas.ts';

/** Returns the AsyncAPI 3.0 document: how events come in, how they are delivered, and how publishers hear of those that are refused. */
export function asyncApiDocument(events: EventFormat): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Emissor: events',
      version: '1.0.0',
      description:
        'Internal services publish business events to a queue. Emissor delivers each to the URL that its account has registered for it. The actions are those of Emissor: it receives events, and sends deliveries and notices.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers,
    channels: {
      eventsQueue: {
        title: 'Events queue',
        description:
          'The standard queue at the address in the output EventsQueueUrl. The managed policy in the output PublisherPolicyArn allows sending to it.',
        servers: [{ $ref: '#/servers/sqs' }],
        messages: referring('message'),
        bindings: { sqs: { queue: { name: 'EventsQueue', fifoQueue: false }, bindingVersion: '0.2.0' } },
      },
      deliveries: {
        title: 'Registered URL',
        description: 'The URL that the account has registered for the event.',
        servers: [{ $ref: '#/servers/receiver' }],
        messages: referring('delivery'),
      },
      refusedEvents: {
        title: 'Topic of refused events',
        description: 'The topic at the address in the output RefusedEventsTopicArn.',
        servers: [{ $ref: '#/servers/sns' }],
        messages: Object.fromEntries(
          Object.keys(notices).map(name => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: { sns: { name: 'RefusedEvents', bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      receiveEvent: {
        action: 'receive',
        channel: { $ref: '#/channels/eventsQueue' },
        title: 'Receive an event',
        description:
          'A publisher sends each message with a MessageGroupId that is its id_conta, so that the burst of one account does not hold up the others. It sets no message attributes. A message that is no event goes to the dead-letter queue.',
        'x-sqs-message-group-id': '$message.payload#/id_conta',
        security: [{ $ref: '#/components/securitySchemes/aws' }],
      },
      sendDelivery: {
        action: 'send',
        channel: { $ref: '#/channels/deliveries' },
        title: 'Deliver an event',
        description:
          'One POST. It is successful when a complete header with a status 2xx comes within 15 seconds; otherwise it is repeated, by default nine times in about three days. An event may arrive more than once, always under the same webhook-id, and in any order.',
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
        security: [{ $ref: '#/components/securitySchemes/receiver' }],
      },
      sendRefusal: {
        action: 'send',
        channel: { $ref: '#/channels/refusedEvents' },
        title: 'Tell publishers of a refused event',
        description: 'At most ten notices a minute for each sender and reason, then one with a count; best effort.',
        security: [{ $ref: '#/components/securitySchemes/aws' }],
      },
    },
    components: { messages: { ...messages(events), ...notices }, securitySchemes },
  };
}

const servers = {
  sqs: {
    host: 'sqs.{region}.amazonaws.com',
    protocol: 'sqs',
    description: 'Amazon SQS in the Region of the service.',
    variables: { region: { description: 'The Region of the service.', default: 'sa-east-1' } },
  },
  sns: {
    host: 'sns.{region}.amazonaws.com',
    protocol: 'sns',
    description: 'Amazon SNS in the Region of the service.',
    variables: { region: { description: 'The Region of the service.', default: 'sa-east-1' } },
  },
  receiver: {
    host: '{host}',
    protocol: 'https',
    description: 'The server of an integrator.',
    variables: {
      host: { description: 'The host of the registered URL, public and by https.', default: 'hooks.example.com' },
    },
  },
};

const securitySchemes = {
  aws: { type: 'http', scheme: 'AWS4-HMAC-SHA256', description: 'AWS Signature Version 4, as every AWS SDK makes it.' },
  receiver: {
    type: 'httpApiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The autorizacao of the registration, where it has one; the signature proves a delivery in any case.',
  },
};

const referring = (kind: 'message' | 'delivery') =>
  Object.fromEntries(EVENT_NAMES.map(event => [event, { $ref: `#/components/messages/${event}.${kind}` }]));

/** The headers of a delivery; names are in lower case, since HTTP does not tell cases apart. */
const headers = {
  type: 'object',
  properties: {
    'content-type': { type: 'string', const: 'application/json' },
    authorization: { type: 'string', description: 'The autorizacao of the registration, where it has one.' },
    ...Object.fromEntries(
      deliveryHeaders.map(({ name, description, schema }) => [name.toLowerCase(), { description, ...schema }]),
    ),
  },
  required: ['content-type', ...deliveryHeaders.map(({ name }) => name.toLowerCase())],
};

/** Returns every event as it comes in and as it is delivered. */
function messages(events: EventFormat): Readonly<Record<string, object>> {
  return Object.fromEntries(
    EVENT_NAMES.flatMap(event => [
      [`${event}.message`, { ...about(events, event, 'is published'), payload: messageSchema(events, event) }],
      [
        `${event}.delivery`,
        {
          ...about(events, event, 'is delivered'),
          headers,
          payload: deliverySchema(events, event),
          correlationId: {
            location: '$message.header#/webhook-id',
            description: 'The same in every attempt and for every copy of the event.',
          },
        },
      ],
    ]),
  );
}

function about(events: EventFormat, event: EventName, how: string) {
  return {
    name: event,
    title: `${event}, as it ${how}`,
    summary: events.rows[event].tells,
    contentType: 'application/json',
  };
}

const notices = {
  refusedEvent: {
    name: 'refusedEvent',
    title: 'A refused event',
    summary: 'A message was no event, or used an id again: whose it was, and what to mend.',
    ...notice(refusalNotice, {
      messageId: 'What SQS gave the publisher when it took the message.',
      id: "The publisher's own id of the event, cut to 128 characters; null where the message has none that is text.",
      sender: 'Who sent it: the SenderId of SQS.',
      reason: 'Why it was refused.',
      detail: 'What to mend.',
    }),
  },
  suppressedRefusals: {
    name: 'suppressedRefusals',
    title: 'A count of refused events',
    summary: 'More events of a sender were refused than are told one by one.',
    ...notice(suppressedRefusals, {
      sender: 'The principal that sent them: the SenderId of SQS up to the first colon.',
      reason: 'Why they were refused.',
      suppressed: 'How many were not told one by one.',
      since: 'The beginning of the minute in which they were refused: RFC 3339, UTC.',
      until: 'The end of it.',
    }),
  },
};

function notice(schema: z.core.$ZodType, descriptions: Readonly<Record<string, string>>) {
  const { type, properties = {}, required } = z.toJSONSchema(schema);
  const described = Object.entries(properties).map(([field, about]) => {
    const description = descriptions[field];
    if (description === undefined) throw new Error(`A notice has the field ${field}, which is not described.`);
    return [field, { description, ...(about as object) }];
  });
  const { sender, reason } = properties;
  return {
    contentType: 'application/json',
    headers: {
      type: 'object',
      description: 'Message attributes, for filter policies of subscriptions.',
      properties: { sender, reason },
      required: ['sender', 'reason'],
    },
    payload: opened({ type, properties: Object.fromEntries(described), required }),
  };
}
