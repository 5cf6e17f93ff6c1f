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
import { eventsToCome } from '../../../support/events-to-come.ts';

/* Events and the bodies that are delivered (`docs/publishing.md`). */

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
  const [known, later] = [{ protocolo: 'P-1', canal: 'app' }, eventsToCome] as const;
  const ofLater = (changes: object) => body({ ...known, ...changes }, undefined, later);

  it.each([
    ['the same', body({}), body({}), true],
    ['another demand', body({}), body({ id_demanda: 8 }), false],
    ['another proposal', body({}), body({ id_proposta: 8 }), false],
    ['fields that are unknown', body({}), body({ secreto: 'x' }), true],
    ['links to another address', body({}), body({}, 'https://other.com.br'), true],
    ['another value of an optional field', ofLater({}), ofLater({ canal: 'web' }), false],
    ['no value of an optional field', ofLater({}), ofLater({ canal: undefined }), false],
    ['a value of an optional field that the first lacks', ofLater({ canal: undefined }), ofLater({}), false],
  ])('with %s have the same content or not', (_what, stored, copy, expected) => {
    expect(haveSameContent(stored, copy)).toBe(expected);
  });
});

const given = { id_conta: 'c', event: 'demanda.criada', id: 'x' };

it.each([
  ['a field is missing', given, deliveryIdOf('c', 'demanda.criada', 'x')],
  ['the event is unknown', { ...given, event: 'x.y', id_demanda: 1 }, deliveryIdOf('c', 'x.y', 'x')],
  ['it has a message id alone', { ...given, id: undefined }, deliveryIdOf('c', 'demanda.criada', 'message-1')],
  ['its account is no text', { ...given, id_conta: 1 }, undefined],
  ['its id is no text', { ...given, id: 5 }, undefined],
  ['it is no object', [], undefined],
])('a rejected message names the delivery that it would have been if %s', (_case, message, deliveryId) => {
  expect({ deliveryId: undefined, ...parse(message) }).toMatchObject({ outcome: 'rejected', deliveryId });
});

describe('a message that a service wrapped in an envelope of its own', () => {
  const event = { id_conta: 'c', event: 'demanda.criada', id_demanda: 1 };
  const Message = JSON.stringify(event);
  const notification = { Type: 'Notification', MessageId: 'm', TopicArn: 'arn:aws:sns:r:1:t', Message };
  const ruled = { version: '0', id: 'e', 'detail-type': 'demand', source: 'demands', account: '1', detail: event };

  it.each([
    ['an SNS topic', notification, /^event: is missing; .*SNS topic: switch on raw message delivery/],
    [
      'an SNS topic that wants its subscription confirmed',
      { ...notification, Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL: 'https://sns' },
      /^event: is missing; an SNS topic asks to confirm .*: let the account of the events queue subscribe$/,
    ],
    ['EventBridge', ruled, /^event: is missing; .*EventBridge rule: .*InputPath \$\.detail, or an input transformer/],
    ['another', { Message: 'x', detail: 'y' }, /^event: is missing; id_conta: is missing; id_demanda: is missing$/],
  ])('%s: is malformed, and the detail explains what to do', (_service, message, detail) => {
    expect(parse(message)).toMatchObject({ reason: 'malformed', detail: expect.stringMatching(detail) });
  });

  it('is an event if it has the fields of an event', () => {
    expect(parse({ ...ruled, ...event }).outcome).toBe('event');
  });
});

describe('an event of the account of smoke tests', () => {
  const ofSmoke = { ...exampleOf('demanda.criada'), id_conta: '_smoke' };
  it.each([
    ['without an id', undefined],
    ['with another id', 'order-981'],
    ['with an id that is longer than a test’s', 'A'.repeat(23)],
    ['with a number', 1],
  ])('is rejected %s: it was sent by mistake', (_case, id) => {
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
  it.each(EVENT_NAMES)('%s: neither a link nor anything else of the message changes it', event => {
    const message = exampleOf(event);
    expect(bodyOf({ ...message, link: 'https://evil.com', secreto: 'x' })).toBe(bodyOf(message));
  });

  it('has zeros for ids in a test', () => {
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

  it('holds for every body that is built, an event’s or a test’s, in its order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...EVENT_NAMES), values, (event, own) => {
        const body = JSON.parse(bodyOf(businessEvents.message(event, { id_conta: 'c' }, own)));
        expect(businessEvents.bodySchema(event).parse(body)).toEqual(body);
        expect(Object.keys(body)).toEqual(Object.keys(businessEvents.bodySchema(event).shape));
        businessEvents.bodySchema(event).parse(JSON.parse(sampleBody(event, 'http://127.0.0.1:4000')));
      }),
    );
  });

  it.each(EVENT_NAMES)('%s: rejects another event’s name, an unknown field and a missing one', event => {
    const body = JSON.parse(sampleBody(event, 'https://demandas.com.br'));
    const { id_demanda, ...withoutDemand } = body;
    for (const wrong of [{ ...body, event: 'x.y' }, { ...body, id_conta: 'c' }, withoutDemand]) {
      expect(businessEvents.bodySchema(event).safeParse(wrong).success).toBe(false);
    }
    expect(id_demanda).toBe(0);
  });
});

it('the delivery id is evt_ and 27 characters of the hash over account, event and the publisher’s id', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...EVENT_NAMES), fc.string(), (account, event, id) => {
      const digest = createHash('sha256')
        .update(JSON.stringify([account, event, id]))
        .digest('base64url');
      expect(deliveryIdOf(account, event, id)).toBe(`evt_${digest.slice(0, 27)}`);
    }),
  );
});

// `event-fields.test.ts` tests what an event must be like, field by field.
describe('messages that are no event', () => {
  it.each([
    ['no JSON', 'oops', 'malformed'],
    ['nothing', '', 'malformed'],
    ['an unknown event', JSON.stringify({ ...exampleOf('demanda.criada'), event: '__proto__' }), 'unknown_event'],
  ])('are refused with a reason: %s', (_, text, reason) => {
    expect(rejectionOf(text)).toEqual({ reason, detail: expect.stringMatching(/./) });
  });

  it('takes any text without throwing, and never repeats it in the detail', () => {
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
