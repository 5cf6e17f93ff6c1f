import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { deliveryIdOf, parseEventMessage } from '../../../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../../../lambdas/delivery/intake/event-catalogue.ts';
import type { EventField } from '../../../../lambdas/delivery/intake/event-field.ts';
import { type EventLink, makeEventFormat } from '../../../../lambdas/delivery/intake/event-format.ts';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import { deliverySchema, eventSchemaFiles, messageSchema } from '../../../../tools/openapi/event-schemas.ts';
import { eventBodies } from '../../../../tools/openapi/event-webhooks.ts';
import { futureEvents, proposalWith } from '../../../support/future-events.ts';

// `invalidEvents` tests the fields that every event has. The other cases use a catalogue with fields of each kind.

const text = 'must be a string of 1 to 5 characters';
const patterned = 'must be a string of 1 to 8 characters that matches ^[a-z][a-z0-9_]*$';
const number = 'must be a whole number from 1 to 2^53 - 1';
const demand = (values: object) => ({ id_conta: 'acme', event: 'demanda.criada', id_demanda: 10, ...values });

/** Valid values of a proposal. Undefined values are absent. */
const validValues: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['with all fields', {}],
  ['without the optional text', { canal: undefined }],
  ['without the optional number', { valor: undefined }],
  ['without both', { canal: undefined, valor: undefined }],
  ['with the longest text for a pattern', { canal: 'a2345_78' }],
  ['with the shortest text for a pattern', { canal: 'a' }],
  ['with the smallest number', { valor: 1 }],
  ['with the largest number', { valor: Number.MAX_SAFE_INTEGER }],
  ['with characters outside the BMP, which count once each', { protocolo: '💧💧💧💧💧' }],
  ['with lone surrogates, which count once each', { protocolo: '\ud83d\ud83d\ud83d\ud83d\ud83d' }],
  ['with control characters', { protocolo: '\u0000\n\t' }],
  ['with accents', { protocolo: 'ação' }],
];

/** A field, an invalid value and the reason. */
const invalidValues: readonly (readonly [string, string, unknown, string])[] = [
  ['a required text is absent', 'protocolo', undefined, 'is missing'],
  ['a required text is null', 'protocolo', null, text],
  ['a text is a number', 'protocolo', 5, text],
  ['a text is a list', 'protocolo', ['P-1'], text],
  ['a text is empty', 'protocolo', '', text],
  ['a text is too long', 'protocolo', '123456', text],
  ['a text is too long in code points', 'protocolo', '💧💧💧💧💧💧', text],
  ['a text is far too long', 'protocolo', 'x'.repeat(10_000), text],
  ['an optional text is null', 'canal', null, patterned],
  ['an optional text is true', 'canal', true, patterned],
  ['an optional text is a number', 'canal', 7, patterned],
  ['a text with a pattern is empty', 'canal', '', patterned],
  ['its first character does not match the pattern', 'canal', '1app', patterned],
  ['its last character does not match the pattern', 'canal', 'app-', patterned],
  ['it has capital letters', 'canal', 'APP', patterned],
  ['it ends with a line break', 'canal', 'app\n', patterned],
  ['it starts with a line break', 'canal', '\napp', patterned],
  ['only its second line matches the pattern', 'canal', '!\napp', patterned],
  ['it has a digit from another script', 'canal', 'a١', patterned],
  ['it has an accent', 'canal', 'ação', patterned],
  ['only its length is invalid', 'canal', 'a23456789', patterned],
  ['an optional number is null', 'valor', null, number],
  ['an optional number is a text', 'valor', '990', number],
  ['an optional number is true', 'valor', true, number],
  ['an optional number is 0', 'valor', 0, number],
  ['an optional number has a fraction', 'valor', 9.5, number],
  ['an optional number is over 2^53 - 1', 'valor', 2 ** 53, number],
];

const account = 'must be a string of 1 to 64 letters, digits, _ or -, and not _smoke';
const id = 'must be a string of 1 to 128 characters';
const oneOf = `must be one of ${EVENT_NAMES.join(', ')}`;
const notObject = 'the message is not a JSON object';

/** An invalid message and the reason that the service returns. */
const invalidEvents: readonly (readonly [string, unknown, string])[] = [
  ['null', null, notObject],
  ['a list', [{}], notObject],
  ['a text', 'demanda.criada', notObject],
  ['a number', 1, notObject],
  ['true', true, notObject],
  ['an empty object', {}, 'event: is missing; id_conta: is missing; id_demanda: is missing'],
  ['only a proposal', { id_proposta: 20, id_demanda: 10 }, 'event: is missing; id_conta: is missing'],
  ...([null, 1, ['demanda.criada'], {}] as const).map(
    event => [`event: ${JSON.stringify(event)}`, demand({ event }), 'event: must be a string'] as const,
  ),
  ...['demanda.inventada', 'DEMANDA.CRIADA', '', ' demanda.criada', 'demanda.criada\n', 'constructor', '__proto__'].map(
    event => [`event: ${JSON.stringify(event)}`, demand({ event }), `event: ${oneOf}`] as const,
  ),
  ['a missing account', demand({ id_conta: undefined }), 'id_conta: is missing'],
  ...['', 'a'.repeat(65), 'a/b', 'a b', 'acme\n', 'ação', '\uff11', '_smoke', 1, null, true, ['acme']].map(
    id_conta => [`id_conta: ${JSON.stringify(id_conta)}`, demand({ id_conta }), `id_conta: ${account}`] as const,
  ),
  ['a missing demand', demand({ id_demanda: undefined }), 'id_demanda: is missing'],
  ...[0, -7, 7.5, 0.5, -0.5, 2 ** 53, 1e300, '7', '', null, true, false, [7], {}].map(
    id_demanda =>
      [`id_demanda: ${JSON.stringify(id_demanda)}`, demand({ id_demanda }), `id_demanda: ${number}`] as const,
  ),
  ...['', 'x'.repeat(129), '💧'.repeat(129), '\udca7'.repeat(129), null, 5, true, ['x']].map(
    value => [`id: ${JSON.stringify(value).slice(0, 20)}`, demand({ id: value }), `id: ${id}`] as const,
  ),
  ['a missing proposal in an event that has one', demand({ event: 'proposta.recebida' }), 'id_proposta: is missing'],
  [
    'a message in which every field is invalid',
    { id_conta: 'a b', event: 'proposta.recebida', id_demanda: '10', id_proposta: 0, id: '' },
    `id_conta: ${account}; id: ${id}; id_proposta: ${number}; id_demanda: ${number}`,
  ],
];

/** Valid ids of a message. */
const validIds = [
  undefined,
  '1',
  'x'.repeat(128),
  '💧'.repeat(128),
  '\ud83d'.repeat(128),
  ' a  b ',
  'a\u0000\r\n',
  '__proto__',
];

const service = (message: unknown) =>
  parseEventMessage(JSON.stringify(message), 'message-1', 'https://d.example', futureEvents);

const link = 'https://d.example/propostas/10/20';
const allFields = { id_proposta: 20, id_demanda: 10, protocolo: 'P-1', canal: 'app', valor: 990 };
const deliveredWith = (values: object) => JSON.stringify({ event: 'proposta.recebida', ...allFields, ...values, link });
const ofAnotherEvent = { id_conta: 'acme', event: 'demanda.criada', id_demanda: 10, canal: 'app', id_proposta: 'x' };

const ajv = new Ajv2020({ allErrors: true });
formats.default(ajv);
const isMessage = ajv.compile(messageSchema(futureEvents, 'proposta.recebida'));
const productSchemas = EVENT_NAMES.map(name => ajv.compile(messageSchema(businessEvents, name)));
const isDelivery = ajv.compile(deliverySchema(futureEvents, 'proposta.recebida'));

describe('the service and the schemas', () => {
  it.each(validValues)('accept an event %s', (_case, values) => {
    expect(bodyOf(service(proposalWith(values)))).toBe(deliveredWith(values));
    expect(isMessage(proposalWith(values))).toBe(true);
    expect(isDelivery(JSON.parse(deliveredWith(values)))).toBe(true);
  });

  it.each(invalidValues)('reject an event if %s', (_case, field, value, reason) => {
    const message = proposalWith({ [field]: value });
    const rejected = { outcome: 'rejected', reason: 'malformed', detail: `${field}: ${reason}` };
    expect(service(message)).toMatchObject(rejected);
    expect(isMessage(message)).toBe(false);
  });

  it.each(invalidEvents)('reject %s', (_case, message, detail) => {
    const parsed = parseEventMessage(JSON.stringify(message), 'message-1', 'https://d.example');
    expect(parsed).toMatchObject({ outcome: 'rejected', detail });
    const parsedMessage = JSON.parse(JSON.stringify(message));
    expect(productSchemas.some(isValid => isValid(parsedMessage))).toBe(false);
  });

  it.each(validIds)('accept the id %j', value => {
    const text = JSON.stringify(demand({ id: value }));
    const deliveryId = deliveryIdOf('acme', 'demanda.criada', value ?? 'message-1');
    const parsed = parseEventMessage(text, 'message-1', 'https://d.example');
    expect(parsed).toMatchObject({ outcome: 'event', event: { deliveryId } });
    expect(productSchemas.filter(isValid => isValid(JSON.parse(text)))).toHaveLength(1);
  });

  it('ignore a field that the event does not have, for any value', () => {
    expect(bodyOf(service(ofAnotherEvent))).toBe('{"event":"demanda.criada","id_demanda":10,"canal":"app"}');
  });

  it.each(EVENT_NAMES)('accept exactly one event with the name %s', name => {
    const message = businessEvents.message(name, { id_conta: 'acme' }, businessEvents.exampleValues);
    expect(productSchemas.filter(isValid => isValid(message))).toHaveLength(1);
  });

  it('accept the body of a test', () => {
    expect(isDelivery({ event: 'proposta.recebida', ...allFields, ...futureEvents.sampleValues, link })).toBe(true);
  });
});

describe('the generated schemas and bodies', () => {
  const required = ['id_proposta', 'id_demanda', 'protocolo'];

  it('contain the values from the documentation and from tests', () => {
    expect(messageSchema(futureEvents, 'proposta.recebida').examples).toEqual([
      { ...proposalWith({}), id: 'example-1' },
    ]);
    expect(futureEvents.body('proposta.recebida', futureEvents.sampleValues, 'https://d.example')).toBe(
      '{"event":"proposta.recebida","id_proposta":0,"id_demanda":0,"protocolo":"P-1","canal":"app","valor":0,"link":"https://d.example/propostas/0/0"}',
    );
  });

  it.each(['protocolo', 'valor', 'nothing'])('have no link with the field %s', name => {
    const link = { ...(futureEvents.rows['proposta.recebida'].link as EventLink<string>), of: ['id_demanda', name] };
    const row = { ...futureEvents.rows['proposta.recebida'], link };
    const rows = { ...futureEvents.rows, 'proposta.recebida': row };
    expect(() => makeEventFormat({ fields: futureEvents.fields, rows })).toThrow(name);
  });

  it('have no pattern that other programs interpret differently', () => {
    const fields = { ...futureEvents.fields, canal: { ...futureEvents.fields.canal, pattern: /^.+$/ } as EventField };
    const events = makeEventFormat({ fields, rows: futureEvents.rows });
    expect(() => eventSchemaFiles(events)).toThrow('The pattern of canal');
  });

  it('describe all fields and require only those that are not optional', () => {
    const { properties, required: ofMessage } = messageSchema(futureEvents, 'proposta.recebida');
    expect(properties).toMatchObject({
      protocolo: { type: 'string', description: 'The protocol.', minLength: 1, maxLength: 5 },
      canal: { type: 'string', minLength: 1, maxLength: 8, pattern: '^[a-z][a-z0-9_]*$' },
      valor: { type: 'integer', format: 'int64', minimum: 1 },
    });
    expect(ofMessage.toSorted()).toEqual(['event', 'id_conta', ...required].sort());
    for (const schema of [
      deliverySchema(futureEvents, 'proposta.recebida'),
      eventBodies(futureEvents)['Event.proposta.recebida'],
    ]) {
      expect(schema?.required).toEqual(['event', ...required, 'link']);
      expect(Object.keys(schema?.properties ?? {})).toEqual(['event', ...required, 'canal', 'valor', 'link']);
    }
  });
});

function bodyOf(parsed: ReturnType<typeof service>): string {
  if (parsed.outcome === 'rejected') throw new Error(parsed.detail);
  return parsed.event.body;
}
