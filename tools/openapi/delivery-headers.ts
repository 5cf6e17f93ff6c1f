/** The headers of a delivery, as a JSON Schema of an object. Names are in lower case, as HTTP compares them. */
export const deliveryHeaders = {
  type: 'object',
  properties: {
    'content-type': {
      type: 'string',
      const: 'application/json',
      description: 'The body is the JSON text of the event.',
    },
    'user-agent': { type: 'string', pattern: '^Emissor/', description: 'The service and its version.' },
    authorization: {
      type: 'string',
      description: 'The autorizacao of the registration, where there is one.',
    },
    'webhook-id': {
      type: 'string',
      pattern: '^(evt_[A-Za-z0-9_-]{27}|teste_[A-Za-z0-9]{22})$',
      description:
        'The id of the delivery: the same in every attempt and for every copy of the event, so that receivers can drop repeats. That of a test begins with teste_.',
    },
    'webhook-timestamp': {
      type: 'string',
      pattern: '^[0-9]+$',
      description: 'When the attempt was begun, in seconds since the epoch.',
    },
    'webhook-signature': {
      type: 'string',
      pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$',
      description:
        'Standard Webhooks: HMAC-SHA-256 over webhook-id.webhook-timestamp.body, one signature for each secret that signs, separated by spaces.',
    },
  },
  required: ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
} as const;
