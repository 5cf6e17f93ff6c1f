import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiFindings, type Finding } from '../../lambdas/api/findings.ts';
import { Problem } from '../../lambdas/api/problem.ts';
import { apiProblems } from '../../lambdas/api/problems.ts';
import { validate } from '../../lambdas/api/validation.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { historyQuery, parseQuery, replayRequest } from '../../lambdas/delivery/api/input.ts';
import { ResolutionError, type Resolve } from '../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { webhookFindings } from '../../lambdas/webhooks/findings.ts';
import { registration, replacement, secretRotation } from '../../lambdas/webhooks/input.ts';
import { makeValidateUrl } from '../../lambdas/webhooks/validate-url.ts';
import { says } from '../support/texts.ts';

type Schema = Parameters<typeof validate>[0];

const tables = { api: apiFindings, webhooks: webhookFindings, delivery: deliveryFindings };
const rows = Object.entries(tables).flatMap(([room, table]) =>
  Object.entries(table).map(([name, row]) => ({ name: `${room}.${name}`, ...row })),
);

/** The rows that say a finding in both languages. */
const rowsOf = ({ code, detail }: Finding) =>
  rows.filter(row => row.code === code && says(detail.en, row.en) && says(detail.pt, row.pt)).map(({ name }) => name);

const body = (schema: Schema, value: unknown) => validate(schema, value).findings;
const query = (text: string): readonly Finding[] => {
  try {
    parseQuery(historyQuery, text, Problem.from(apiProblems));
    return [];
  } catch (error) {
    return error instanceof Problem ? (error.errors ?? []) : [];
  }
};
const url = (text: string, resolve: Resolve = async () => ['93.184.216.34']) =>
  makeValidateUrl({ ...systemTime, resolve, ownHosts: ['base.example.net'] })(text);
const failing =
  (fault: 'not_found' | 'temporary'): Resolve =>
  () =>
    Promise.reject(new ResolutionError(fault, 'ECODE'));

const good = { evento: 'demanda.criada', url: 'https://receiver.example.com/' };
const span = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T00:00:00Z', estado: 'falhou' };

const cases: Record<string, () => readonly Finding[] | Promise<readonly Finding[]>> = {
  'api.required': () => body(registration, { evento: 'demanda.criada' }),
  'api.unknown_field': () => body(registration, { ...good, autorizacão: 'x' }),
  'api.object_type': () => body(registration, []),
  'api.string_type': () => body(registration, { ...good, url: 1 }),
  'api.boolean_type': () => body(secretRotation, { imediato: 'sim' }),
  'api.event': () => body(registration, { ...good, evento: 'demanda.inventada' }),
  'api.choice': () => body(replayRequest, { ...span, estado: 'entregue' }),
  'api.choice_type': () => body(replayRequest, { ...span, estado: 1 }),
  'api.date_time': () => body(replayRequest, { ...span, ate: '2026-11-20' }),
  'api.plus_sign': () => query('desde=2026-11-20T12:00:00+03:00'),
  'webhooks.autorizacao': () => body(replacement, { url: good.url, autorizacao: ' x' }),
  'webhooks.well_formed': () => url('https://receiver.example.com/\ud800'),
  'webhooks.length': () => url(`https://receiver.example.com/${'a'.repeat(2_048)}`),
  'webhooks.characters': () => url('https://receiver.example.com/a b'),
  'webhooks.absolute': () => url('nonsense'),
  'webhooks.https': () => url('http://receiver.example.com/'),
  'webhooks.userinfo': () => url('https://a:b@receiver.example.com/'),
  'webhooks.fragment': () => url('https://receiver.example.com/#a'),
  'webhooks.port': () => url('https://receiver.example.com:80/'),
  'webhooks.ipv6_literal': () => url('https://[2606:4700::1]/'),
  'webhooks.dns_name': () => url('https://a..example.com/'),
  'webhooks.single_label': () => url('https://receiver/'),
  'webhooks.private_suffix': () => url('https://receiver.internal/'),
  'webhooks.own_host': () => url('https://base.example.net/'),
  'webhooks.public_address': () => url('https://10.0.0.1/'),
  'webhooks.ipv4': () => url(good.url, async () => ['2606:4700::1']),
  'webhooks.not_found': () => url(good.url, failing('not_found')),
  'webhooks.temporary': () => url(good.url, failing('temporary')),
  'delivery.limite_number': () => query('limite=x'),
  'delivery.limite_range': () => query('limite=0'),
  'delivery.cursor': () => query('cursor=x'),
  'delivery.range': () => body(replayRequest, { ...span, ate: span.desde }),
  'delivery.unknown_parameter': () => query('pagina=1'),
  'delivery.repeated': () => query('limite=1&limite=1'),
};

describe('findings', () => {
  it.each(Object.entries(cases))('%s is said in both languages', async (name, find) => {
    const found = await find();
    expect(found.map(rowsOf)).toEqual([[name]]);
    for (const { detail } of found) expect(detail.en + detail.pt).not.toMatch(/[{}]|undefined/);
  });

  it('are all tried here', () => {
    expect(Object.keys(cases).sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  it.each<[string, Schema]>([
    ['a registration', registration],
    ['a replacement', replacement],
    ['a rotation of the secret', secretRotation],
    ['a replay', replayRequest],
  ])('come from the tables, whatever is sent as %s', (_case, schema) => {
    fc.assert(
      fc.property(anyBody, sent => {
        for (const found of body(schema, sent)) expect(rowsOf(found)).not.toEqual([]);
      }),
    );
  });

  it('come from the tables, whatever is asked of the history', () => {
    fc.assert(
      fc.property(anyQuery, text => {
        for (const found of query(text)) expect(rowsOf(found)).not.toEqual([]);
      }),
    );
  });
});

const names = ['evento', 'url', 'autorizacao', 'imediato', 'desde', 'ate', 'estado', 'limite', 'cursor'];
const anyName = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, fc.string());
const anyText = fc.oneof(
  fc.constantFrom(...Object.values(good), ...Object.values(span), '', '0', '101', '1e2', '2026-13-01T00:00:00Z'),
  fc.string(),
);
const anyBody = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(anyName, fc.oneof(anyText, fc.jsonValue({ maxDepth: 1 }))) },
  fc.jsonValue({ maxDepth: 2 }),
);
const anyQuery = fc.array(fc.tuple(anyName, anyText)).map(pairs => new URLSearchParams(pairs).toString());
