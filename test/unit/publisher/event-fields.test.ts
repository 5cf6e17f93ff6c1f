import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEventMessage } from '../../../lambdas/delivery/intake/event.ts';
import { type EventLink, makeEventFormat } from '../../../lambdas/delivery/intake/event-format.ts';
import { deliverySchema, messageSchema } from '../../../tools/openapi/event-schemas.ts';
import { eventBodies } from '../../../tools/openapi/event-webhooks.ts';
import { publisherSources } from '../../../tools/openapi/publisher-sources.ts';
import { anyMessageOf } from '../../support/any-message.ts';
import { eventsToCome, proposalWith } from '../../support/events-to-come.ts';
import { type Judgement, makePublishersOf } from '../../support/publishers-of.ts';

// What a row of a field promises: the service, its schemas and both publishers say the same of it. The events are those of a
// catalogue with fields of each kind, so that a field of the product's is a row and no more.

const publishers = makePublishersOf(eventsToCome);
afterAll(publishers.remove);

const text = 'must be a string of 1 to 5 characters';
const patterned = 'must be a string of 1 to 8 characters that matches ^[a-z][a-z0-9_]*$';
const number = 'must be a whole number from 1 to 2^53 - 1';

/** Values that a proposal may have; what is undefined is absent. */
const right: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['with all fields', {}],
  ['without the optional text', { canal: undefined }],
  ['without the optional number', { valor: undefined }],
  ['without both', { canal: undefined, valor: undefined }],
  ['with the longest text of a pattern', { canal: 'a2345_78' }],
  ['with the shortest', { canal: 'a' }],
  ['with the smallest number', { valor: 1 }],
  ['with the greatest', { valor: Number.MAX_SAFE_INTEGER }],
  ['with a text of characters outside the BMP, each of which counts once', { protocolo: '💧💧💧💧💧' }],
  ['with surrogates that are alone, each of which counts once', { protocolo: '\ud83d\ud83d\ud83d\ud83d\ud83d' }],
  ['with a text of control characters', { protocolo: '\u0000\n\t' }],
  ['with accents', { protocolo: 'ação' }],
];

/** A field, the value that it cannot have, and why. */
const wrong: readonly (readonly [string, string, unknown, string])[] = [
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
  ['a text of a pattern is empty', 'canal', '', patterned],
  ['its first character is another', 'canal', '1app', patterned],
  ['its last is another', 'canal', 'app-', patterned],
  ['it is in capitals', 'canal', 'APP', patterned],
  ['it ends with a line break', 'canal', 'app\n', patterned],
  ['it begins with one', 'canal', '\napp', patterned],
  ['its second line is right', 'canal', '!\napp', patterned],
  ['it has a digit of another script', 'canal', 'a١', patterned],
  ['it has an accent', 'canal', 'ação', patterned],
  ['it is right but for its length', 'canal', 'a23456789', patterned],
  ['an optional number is null', 'valor', null, number],
  ['an optional number is a text', 'valor', '990', number],
  ['an optional number is true', 'valor', true, number],
  ['an optional number is 0', 'valor', 0, number],
  ['an optional number has a fraction', 'valor', 9.5, number],
  ['an optional number is beyond 2^53 - 1', 'valor', 2 ** 53, number],
];

const service = (message: unknown) =>
  parseEventMessage(JSON.stringify(message), 'message-1', 'https://d.example', eventsToCome);

const link = 'https://d.example/propostas/10/20';
const whole = { id_proposta: 20, id_demanda: 10, protocolo: 'P-1', canal: 'app', valor: 990 };
const deliveredWith = (values: object) => JSON.stringify({ event: 'proposta.recebida', ...whole, ...values, link });
const ofAnotherEvent = { id_conta: 'acme', event: 'demanda.criada', id_demanda: 10, canal: 'app', valor: 1 };

describe('the service', () => {
  it.each(right)('delivers an event %s', (_case, values) => {
    expect(bodyOf(service(proposalWith(values)))).toBe(deliveredWith(values));
  });

  it.each(wrong)('refuses one where %s', (_case, field, value, reason) => {
    const parsed = service(proposalWith({ [field]: value }));
    expect(parsed).toMatchObject({ outcome: 'rejected', reason: 'malformed', detail: `${field}: ${reason}` });
  });

  it('ignores a field that the event does not have', () => {
    expect(bodyOf(service(ofAnotherEvent))).toBe('{"event":"demanda.criada","id_demanda":10,"canal":"app"}');
  });
});

const any = fc.sample(anyMessageOf(eventsToCome), 2_000).map(message => JSON.parse(JSON.stringify(message)));

describe.each([
  ['TypeScript', publishers.typescript, false],
  ['Python', publishers.python, !publishers.hasPython],
])('the publisher in %s', (_language, judgeAll, isMissing) => {
  describe.skipIf(isMissing)('judges as the service does', () => {
    const wrongMessages = wrong.map(([_, field, value]) => proposalWith({ [field]: value }));
    const given = [...right.map(([_, values]) => proposalWith(values)), ...wrongMessages, ofAnotherEvent, ...any];
    const judgements = new Map<string, Judgement>();
    const judgementOf = (message: unknown) => judgements.get(JSON.stringify(message));
    beforeAll(async () => {
      const judged = await judgeAll(given);
      for (const [at, judgement] of judged.entries()) judgements.set(JSON.stringify(given[at]), judgement);
    });

    it.each(right)('sends an event %s, which is delivered', (_case, values) => {
      const { findings, body = '' } = judgementOf(proposalWith(values)) ?? {};
      expect(findings).toEqual([]);
      expect(bodyOf(service(JSON.parse(body)))).toBe(deliveredWith(values));
    });

    it.each(wrong)('refuses one where %s', (_case, field, value, reason) => {
      expect(judgementOf(proposalWith({ [field]: value }))).toEqual({ findings: [{ field, reason }] });
    });

    it('refuses a field that the event does not have', () => {
      const findings = [{ field: 'valor', reason: 'is no field of this event' }];
      expect(judgementOf(ofAnotherEvent)).toEqual({ findings });
    });

    it('finds in any message what the service finds', () => {
      let accepted = 0;
      for (const message of any) {
        const { findings = [] } = judgementOf(message) ?? {};
        const known = findings.filter(({ reason }) => reason !== 'is no field of this event');
        const parsed = service(message);
        const details = parsed.outcome === 'rejected' ? new Set(parsed.detail.split('; ')) : [];
        expect(known.map(({ field, reason }) => `${field}: ${reason}`)).toEqual([...details]);
        accepted += Number(known.length === 0);
      }
      expect(accepted).toBeGreaterThan(200);
    });
  });
});

const ajv = new Ajv2020({ allErrors: true });
formats.default(ajv);
const isMessage = ajv.compile(messageSchema(eventsToCome, 'proposta.recebida'));
const isDelivery = ajv.compile(deliverySchema(eventsToCome, 'proposta.recebida'));

describe('the schemas', () => {
  it.each(right)('hold for an event %s', (_case, values) => {
    expect(isMessage(proposalWith(values))).toBe(true);
    expect(isDelivery(JSON.parse(deliveredWith(values)))).toBe(true);
  });

  it.each(wrong)('refuse one where %s', (_case, field, value) => {
    expect(isMessage(proposalWith({ [field]: value }))).toBe(false);
  });

  it('hold for a test', () => {
    expect(isDelivery({ event: 'proposta.recebida', ...whole, ...eventsToCome.sampleValues, link })).toBe(true);
  });
});

describe('what is generated', () => {
  const required = ['id_proposta', 'id_demanda', 'protocolo'];
  const types = new Map(publisherSources(eventsToCome));

  it('has the values of documents and of tests', () => {
    expect(messageSchema(eventsToCome, 'proposta.recebida').examples).toEqual([
      { ...proposalWith({}), id: 'example-1' },
    ]);
    expect(eventsToCome.body('proposta.recebida', eventsToCome.sampleValues, 'https://d.example')).toBe(
      '{"event":"proposta.recebida","id_proposta":0,"id_demanda":0,"protocolo":"P-1","canal":"app","valor":0,"link":"https://d.example/propostas/0/0"}',
    );
  });

  it.each(['protocolo', 'valor', 'nothing'])('has no link that is made of %s', name => {
    const link = { ...(eventsToCome.rows['proposta.recebida'].link as EventLink<string>), of: ['id_demanda', name] };
    const row = { ...eventsToCome.rows['proposta.recebida'], link };
    const rows = { ...eventsToCome.rows, 'proposta.recebida': row };
    expect(() => makeEventFormat({ fields: eventsToCome.fields, rows })).toThrow(name);
  });

  it('describes the fields, and requires those alone that are not optional', () => {
    const { properties, required: ofMessage } = messageSchema(eventsToCome, 'proposta.recebida');
    expect(properties).toMatchObject({
      protocolo: { type: 'string', description: 'The protocol.', minLength: 1, maxLength: 5 },
      canal: { type: 'string', minLength: 1, maxLength: 8, pattern: '^[a-z][a-z0-9_]*$' },
      valor: { type: 'integer', format: 'int64', minimum: 1 },
    });
    expect(ofMessage.toSorted()).toEqual(['event', 'id_conta', ...required].sort());
    for (const schema of [
      deliverySchema(eventsToCome, 'proposta.recebida'),
      eventBodies(eventsToCome)['Event.proposta.recebida'],
    ]) {
      expect(schema?.required).toEqual(['event', ...required, 'link']);
      expect(Object.keys(schema?.properties ?? {})).toEqual(['event', ...required, 'canal', 'valor', 'link']);
    }
  });

  it('types them in TypeScript', () => {
    const source = types.get('packages/publisher/src/events.ts');
    const [, members = ''] = /export interface PropostaRecebida \{(.*?)\n\}/s.exec(source ?? '') ?? [];
    expect(members).toContain('readonly protocolo: string;');
    expect(members).toContain('readonly canal?: string | undefined;');
    expect(members).toContain('readonly valor?: number | undefined;');
  });

  it.skipIf(!publishers.hasPython)('types them in Python, in each event for itself', async () => {
    const program = `
import json
from emissor_publisher.events import DemandaCriada, PropostaRecebida
print(json.dumps([sorted(event.__optional_keys__) for event in (DemandaCriada, PropostaRecebida)]))
print(json.dumps(sorted(PropostaRecebida.__required_keys__)))`;
    const [optional = '', needed = ''] = (await publishers.runPython(program)).split('\n');
    expect(JSON.parse(optional)).toEqual([
      ['canal', 'id'],
      ['canal', 'id', 'valor'],
    ]);
    expect(JSON.parse(needed)).toEqual(['event', 'id_conta', ...required].sort());
  });
});

function bodyOf(parsed: ReturnType<typeof service>): string {
  if (parsed.outcome === 'rejected') throw new Error(parsed.detail);
  return parsed.event.body;
}
