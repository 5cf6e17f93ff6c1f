import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deliveryIdOf,
  haveSameContent,
  parseEventMessage,
  sampleBody,
  smokeTestIdLength,
} from '../../../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../../../lambdas/delivery/intake/event-catalogue.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { EVENT_NAMES, type EventName } from '../../../../lambdas/webhooks/webhook.ts';
import { futureEvents } from '../../../support/future-events.ts';

const parseText = (text: string) => parseEventMessage(text, 'message-1', 'https://demandas.com.br');
const parse = (message: unknown) => parseText(JSON.stringify(message));

const exampleOf = (event: EventName) =>
  businessEvents.message(event, { id_conta: 'c', id: 'x' }, businessEvents.exampleValues);

const bodyOf = (message: unknown): string => {
  const parsed = parse(message);
  if (parsed.outcome === 'rejected') throw new Error(parsed.detail);
  return parsed.event.body;
};

const rejectionOf = (text: string) => {
  const parsed = parseText(text);
  return parsed.outcome === 'rejected' ? { reason: parsed.reason, detail: parsed.detail } : undefined;
};

describe('copies of an event', () => {
  const body = (changes: object, demandsUrl = 'https://demandas.com.br', events = businessEvents) => {
    const message = JSON.stringify({ ...exampleOf('proposta.recebida'), ...changes });
    const parsed = parseEventMessage(message, 'm', demandsUrl, events);
    return parsed.outcome === 'event' ? parsed.event.body : '';
  };
  const [optionalFields, catalogue] = [{ protocolo: 'P-1', canal: 'app' }, futureEvents] as const;
  const ofLater = (changes: object) => body({ ...optionalFields, ...changes }, undefined, catalogue);

  it.each([
    ['equal fields', body({}), body({}), true],
    ['another demand', body({}), body({ id_demanda: 8 }), false],
    ['another proposal', body({}), body({ id_proposta: 8 }), false],
    ['unknown fields', body({}), body({ secreto: 'x' }), true],
    ['links to another address', body({}), body({}, 'https://other.com.br'), true],
    ['another value of an optional field', ofLater({}), ofLater({ canal: 'web' }), false],
    ['no value of an optional field', ofLater({}), ofLater({ canal: undefined }), false],
    ['an additional value of an optional field', ofLater({ canal: undefined }), ofLater({}), false],
  ])('with %s are compared by their content', (_case, stored, copy, expected) => {
    expect(haveSameContent(stored, copy)).toBe(expected);
  });
});

const incomplete = { id_conta: 'c', event: 'demanda.criada', id: 'x' };

it.each([
  ['a field is missing', incomplete, deliveryIdOf('c', 'demanda.criada', 'x')],
  ['the event is unknown', { ...incomplete, event: 'x.y', id_demanda: 1 }, deliveryIdOf('c', 'x.y', 'x')],
  ['it has only a message id', { ...incomplete, id: undefined }, deliveryIdOf('c', 'demanda.criada', 'message-1')],
  ['its account is not a string', { ...incomplete, id_conta: 1 }, undefined],
  ['its id is not a string', { ...incomplete, id: 5 }, undefined],
  ['it is not an object', [], undefined],
])('returns the delivery id of a rejected message, if it can be computed: %s', (_case, message, deliveryId) => {
  expect({ deliveryId: undefined, ...parse(message) }).toMatchObject({ outcome: 'rejected', deliveryId });
});

describe('an event in the envelope of a service', () => {
  const event = { id_conta: 'c', event: 'demanda.criada', id_demanda: 1 };
  const Message = JSON.stringify(event);
  const notification = { Type: 'Notification', MessageId: 'm', TopicArn: 'arn:aws:sns:r:1:t', Message };
  const eventBridgeEvent = {
    version: '0',
    id: 'e',
    'detail-type': 'demand',
    source: 'demands',
    account: '1',
    detail: event,
  };

  it.each([
    ['an SNS topic', notification, /^event: is missing; .*SNS topic: enable raw message delivery/],
    [
      'the subscription confirmation of an SNS topic',
      { ...notification, Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL: 'https://sns' },
      /^event: is missing; this is the subscription confirmation of an SNS topic.*: subscribe from the account of the events queue$/,
    ],
    [
      'EventBridge',
      eventBridgeEvent,
      /^event: is missing; .*EventBridge rule: set InputPath .* or use an input transformer/,
    ],
    ['another', { Message: 'x', detail: 'y' }, /^event: is missing; id_conta: is missing; id_demanda: is missing$/],
  ])('is malformed, and the detail explains the fix: %s', (_service, message, detail) => {
    expect(parse(message)).toMatchObject({ reason: 'malformed', detail: expect.stringMatching(detail) });
  });

  it('is valid if it has the fields of an event', () => {
    expect(parse({ ...eventBridgeEvent, ...event }).outcome).toBe('event');
  });
});

describe('an event for the account of smoke tests', () => {
  const ofSmoke = { ...exampleOf('demanda.criada'), id_conta: '_smoke' };
  it.each([
    ['without an id', undefined],
    ['with another id', 'order-981'],
    ['with an id that is too long', 'A'.repeat(23)],
    ['with a number as id', 1],
  ])('is rejected %s', (_case, id) => {
    const detail = expect.stringMatching(/id_conta: must be .* and not _smoke/);
    expect(parse({ ...ofSmoke, id })).toMatchObject({ reason: 'malformed', detail });
  });

  it('is accepted with the id of a smoke test', () => {
    const id = randomId(smokeTestIdLength);
    const deliveryId = deliveryIdOf('_smoke', 'demanda.criada', id);
    expect(parse({ ...ofSmoke, id })).toMatchObject({ outcome: 'event', event: { accountId: '_smoke', deliveryId } });
    expect(parse({ ...ofSmoke, id, id_demanda: '10' })).toMatchObject({ reason: 'malformed' });
  });
});

describe('the body of a delivery', () => {
  // `docs-events.test.ts` compares the body of each event with the page, byte for byte.
  it.each(EVENT_NAMES)('does not change with a link or an unknown field in the message: %s', event => {
    const message = exampleOf(event);
    expect(bodyOf({ ...message, link: 'https://evil.com', secreto: 'x' })).toBe(bodyOf(message));
  });

  it('contains zeros as ids in a test', () => {
    expect(sampleBody('demanda.criada', 'https://demandas.com.br')).toBe('{"event":"demanda.criada","id_demanda":0}');
    expect(sampleBody('mensagem.recebida', 'https://demandas.com.br')).toBe(
      '{"event":"mensagem.recebida","id_proposta":0,"id_demanda":0,"link":"https://demandas.com.br/propostas/0"}',
    );
  });
});

describe('the schema of a delivered body', () => {
  const values = fc.record(
    Object.fromEntries(
      Object.entries(businessEvents.fields).map(([name, { example }]) => [
        name,
        typeof example === 'number' ? fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) : fc.constant(example),
      ]),
    ),
  );

  it('accepts the body of every event and test, in the same order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...EVENT_NAMES), values, (event, own) => {
        const body = JSON.parse(bodyOf(businessEvents.message(event, { id_conta: 'c' }, own)));
        expect(businessEvents.bodySchema(event).parse(body)).toEqual(body);
        expect(Object.keys(body)).toEqual(Object.keys(businessEvents.bodySchema(event).shape));
        businessEvents.bodySchema(event).parse(JSON.parse(sampleBody(event, 'http://127.0.0.1:4000')));
      }),
    );
  });

  it.each(EVENT_NAMES)('rejects the name of another event, an unknown field and a missing field: %s', event => {
    const body = JSON.parse(sampleBody(event, 'https://demandas.com.br'));
    const { id_demanda, ...withoutDemand } = body;
    for (const invalidBody of [{ ...body, event: 'x.y' }, { ...body, id_conta: 'c' }, withoutDemand]) {
      expect(businessEvents.bodySchema(event).safeParse(invalidBody).success).toBe(false);
    }
    expect(id_demanda).toBe(0);
  });
});

it('the delivery id is evt_ and 27 characters of a hash of the account, the event and the publisher’s id', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...EVENT_NAMES), fc.string(), (account, event, id) => {
      const digest = createHash('sha256')
        .update(JSON.stringify([account, event, id]))
        .digest('base64url');
      expect(deliveryIdOf(account, event, id)).toBe(`evt_${digest.slice(0, 27)}`);
    }),
  );
});

// `event-fields.test.ts` tests the valid values of each field.
describe('parseEventMessage', () => {
  it.each([
    ['no JSON', 'oops', 'malformed'],
    ['nothing', '', 'malformed'],
    ['an unknown event', JSON.stringify({ ...exampleOf('demanda.criada'), event: '__proto__' }), 'unknown_event'],
  ])('rejects a message with a reason: %s', (_, text, reason) => {
    expect(rejectionOf(text)).toEqual({ reason, detail: expect.stringMatching(/./) });
  });

  it('never throws, and never quotes the message in the detail', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), text => {
        const canary = `canary-${text.length}-7f3a`;
        const event = { id_conta: canary + text, event: 'demanda.criada', id: canary, [canary]: text };
        expect(rejectionOf(text)?.detail).toBeDefined();
        expect(rejectionOf(JSON.stringify(event))?.detail).not.toContain(canary);
      }),
    );
  });
});
