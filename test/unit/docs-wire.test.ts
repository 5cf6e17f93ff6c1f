import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { texts } from '../../console/texts/texts.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import { activeAccessToken, tokenResponse } from '../../lambdas/auth/responses.ts';
import { historyQuery, replayRequest } from '../../lambdas/delivery/api/input.ts';
import { acceptedDelivery, deliveryPage, replayRecord } from '../../lambdas/delivery/api/responses.ts';
import { failureCauses } from '../../lambdas/delivery/failure-causes.ts';
import { deliveryDetail, wireReplayStates, wireResults, wireStates } from '../../lambdas/delivery/representation.ts';
import { registration, replacement, secretRotation } from '../../lambdas/webhooks/input.ts';
import { webhookRecord, wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import { newSecret, registeredWebhook, webhookList } from '../../lambdas/webhooks/responses.ts';
import { blocksOf, firstCells, inlineCode, readPage, sectionOf } from '../support/markdown-page.ts';

// These tests compare the fields, values and samples in the integrators' pages with the schemas. Most tests read only English pages,
// because `docs-languages.test.ts` compares both languages.

const page = {
  webhooks: readPage('docs/en/webhooks.md'),
  deliveries: readPage('docs/en/deliveries.md'),
  tokens: readPage('docs/en/tokens.md'),
  'quick-start': readPage('docs/en/quick-start.md'),
};

type PageName = keyof typeof page;

interface Schema {
  parse(value: unknown): unknown;
}

describe("the integrators' pages", () => {
  it.each([
    ['Webhook', Object.values(wireStatuses)],
    ['Delivery', Object.values(wireStates)],
    ['Attempt', Object.values(wireResults)],
    ['Replay', Object.values(wireReplayStates)],
    ['Suspend and reactivate', Object.values(wireReasons)],
  ])('explain all values in section "%s"', (heading, words) => {
    expect(firstCells(page.deliveries, heading)).toEqual([words]);
  });

  const { tentativas } = deliveryDetail.shape;
  const attemptFields = Object.keys(tentativas.def.element.shape).map(name => `tentativas[].${name}`);
  const recordFields = Object.keys(deliveryPage.shape.entregas.def.element.shape);

  it.each([
    ['a webhook', 'webhooks', 'The record', [Object.keys(webhookRecord.shape)]],
    ['a registration', 'webhooks', 'Register', [Object.keys(registration.shape)]],
    ['a new secret', 'webhooks', 'Rotate the secret', [Object.keys(secretRotation.shape)]],
    ['a list of deliveries', 'deliveries', 'List deliveries', [Object.keys(historyQuery.shape), recordFields]],
    ['a delivery', 'deliveries', 'Look up a delivery', [['corpo', ...attemptFields]]],
    [
      'a replay',
      'deliveries',
      'Replay a time range',
      [Object.keys(replayRequest.shape), Object.keys(replayRecord.shape)],
    ],
    [
      'a token',
      'tokens',
      'Get a token',
      [['grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope'], Object.keys(tokenResponse.shape)],
    ],
    ['the list of scopes', 'tokens', 'Scopes', [[...scopes]]],
  ] as const)('explain %s completely', (_, name, heading, fields) => {
    expect(firstCells(page[name], heading)).toEqual(fields);
  });

  it('list the fields that a replacement accepts', () => {
    expect(sectionOf(page.webhooks, 'Replace')).toContain('takes `url` and, optionally, `autorizacao`');
    expect(Object.keys(replacement.shape)).toEqual(['url', 'autorizacao']);
  });

  it('list the fields in the introspection response for an access token', () => {
    const names = new Set(inlineCode(sectionOf(page.tokens, 'Look up a token')));
    expect(Object.keys(activeAccessToken.shape).filter(name => !names.has(name))).toEqual([]);
  });
});

it.each([
  ['docs/en/nothing-arrived.md', 'en'],
  ['docs/pt/nada-chegou.md', 'pt'],
] as const)('%s explains what to do about each cause of a failed attempt', (file, language) => {
  const causes = Object.values(failureCauses).flatMap(({ results, word }) =>
    results.map(result => [`\`${wireResults[result]}\``, `\`${word}\``, texts[language].advice[word]]),
  );
  const { rows } = readPage(file).tables.find(({ rows: [first = []] }) => first.length === 3) ?? { rows: [] };
  expect(rows.map(cells => cells.map(withoutLinks))).toEqual(causes);
});

it('the console shows the advice in failure-causes.ts', () => {
  const advice = Object.values(failureCauses).map(({ word, en }) => [word, en]);
  expect(texts.en.advice).toEqual(Object.fromEntries(advice));
});

it('the page about webhooks lists all calls in the OpenAPI document, with their success status and scope', () => {
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/api/webhooks.openapi.json'), 'utf8'));
  const expected = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => path.startsWith('/v1/webhooks') && methods.includes(method))
      .map(([method, { responses, security }]) => [
        `${method.toUpperCase()} ${path}`,
        Object.keys(responses).filter(status => status.startsWith('2'))[0],
        Object.values(security[0] ?? {}).flat()[0],
      ]),
  );
  const rows = page.webhooks.tables.find(({ heading }) => heading === 'All calls')?.rows ?? [];
  const calls = rows.map(([call = '', success, scope = '']) => [inlineCode(call)[0], success, inlineCode(scope)[0]]);
  expect(calls.toSorted()).toEqual(expected.toSorted());
});

describe('the sample response matches its schema', () => {
  const schemas: readonly [PageName, string, Schema][] = [
    ['tokens', 'Get a token', tokenResponse],
    ['webhooks', 'Register', registeredWebhook],
    ['webhooks', 'List and look up', webhookList],
    ['webhooks', 'Rotate the secret', newSecret],
    ['webhooks', 'Test', acceptedDelivery],
    ['deliveries', 'List deliveries', deliveryPage],
    ['deliveries', 'Look up a delivery', deliveryDetail],
    ['deliveries', 'Resend a delivery', acceptedDelivery],
    ['deliveries', 'Replay a time range', replayRecord],
    ['quick-start', '5. Send a test', deliveryPage],
  ];

  it.each(schemas)('in %s, "%s"', (name, heading, schema) => {
    const sample = JSON.parse(blocksOf(page[name], heading, 'json')[0] ?? '');
    expect(schema.parse(sample)).toEqual(sample); // parsing omits unknown fields
  });
});

function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

const methods = ['get', 'post', 'put', 'delete'];

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}
