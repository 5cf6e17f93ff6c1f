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

// Fields, words and samples of the integrators' pages, against the schemas.
// Both languages name the same things in the same places (`docs-languages.test.ts`), so most of it is read from one of them.

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

describe('the words of the wire', () => {
  it.each([
    ['Webhook', Object.values(wireStatuses)],
    ['Delivery', Object.values(wireStates)],
    ['Attempt', Object.values(wireResults)],
    ['Replay', Object.values(wireReplayStates)],
    ['Suspend and reactivate', Object.values(wireReasons)],
  ])('%s: all are explained', (heading, words) => {
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
    ['scopes', 'tokens', 'Scopes', [[...scopes]]],
  ] as const)('%s: all its fields are explained', (_, name, heading, fields) => {
    expect(firstCells(page[name], heading)).toEqual(fields);
  });

  it('a replacement accepts the fields on the page', () => {
    expect(sectionOf(page.webhooks, 'Replace')).toContain('takes `url` and, optionally, `autorizacao`');
    expect(Object.keys(replacement.shape)).toEqual(['url', 'autorizacao']);
  });

  it('introspection names the members that an access token has', () => {
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

it('the console, the reference and operators read the same advice', () => {
  const advice = Object.values(failureCauses).map(({ word, en }) => [word, en]);
  expect(texts.en.advice).toEqual(Object.fromEntries(advice));
});

it('all calls are those of the OpenAPI document, with their success and scope', () => {
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/api/webhooks.openapi.json'), 'utf8'));
  const described = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => path.startsWith('/v1/webhooks') && methods.includes(method))
      .map(([method, { responses, security }]) => [
        `${method.toUpperCase()} ${path}`,
        Object.keys(responses).filter(status => status.startsWith('2'))[0],
        Object.values(security[0] ?? {}).flat()[0],
      ]),
  );
  const rows = page.webhooks.tables.find(({ heading }) => heading === 'All calls')?.rows ?? [];
  const reported = rows.map(([call = '', success, scope = '']) => [inlineCode(call)[0], success, inlineCode(scope)[0]]);
  expect(reported.toSorted()).toEqual(described.toSorted());
});

describe('the sample answers are what the service answers', () => {
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

  it.each(schemas)('%s, %s', (name, heading, schema) => {
    const sample = JSON.parse(blocksOf(page[name], heading, 'json')[0] ?? '');
    expect(schema.parse(sample)).toEqual(sample); // what a schema does not know it leaves out
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
