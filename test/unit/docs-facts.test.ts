import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { apiFindings } from '../../lambdas/api/findings.ts';
import { problemBody, problemTitles } from '../../lambdas/api/problem.ts';
import { apiProblems } from '../../lambdas/api/problems.ts';
import { activeAccessToken, tokenResponse } from '../../lambdas/auth/answers.ts';
import { oauthCases } from '../../lambdas/auth/oauth-error.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import { acceptedDelivery, deliveryPage, replayRecord } from '../../lambdas/delivery/api/answers.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { historyQuery, replayRequest } from '../../lambdas/delivery/api/input.ts';
import { deliveryProblems } from '../../lambdas/delivery/api/problems.ts';
import { parseEventMessage } from '../../lambdas/delivery/event.ts';
import * as limits from '../../lambdas/delivery/limits.ts';
import { deliveryDetail, wireReplayStates, wireResults, wireStates } from '../../lambdas/delivery/representation.ts';
import { signatureHeader } from '../../lambdas/delivery/worker/signature.ts';
import { newSecret, registeredWebhook, webhookList } from '../../lambdas/webhooks/answers.ts';
import { webhookFindings } from '../../lambdas/webhooks/findings.ts';
import { registration, replacement, secretRotation } from '../../lambdas/webhooks/input.ts';
import { webhookProblems } from '../../lambdas/webhooks/problems.ts';
import { webhookRecord, wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { inlineCode, type Page, readPage } from '../support/markdown-page.ts';

// What the integrators' pages say of the wire, against the code. Both languages name the same things in the same places
// (`docs-languages.test.ts`), so most of it is read from one of them.

const page = {
  errors: readPage('docs/en/errors.md'),
  events: readPage('docs/en/events.md'),
  webhooks: readPage('docs/en/webhooks.md'),
  deliveries: readPage('docs/en/deliveries.md'),
  receiving: readPage('docs/en/receiving.md'),
  tokens: readPage('docs/en/tokens.md'),
  'quick-start': readPage('docs/en/quick-start.md'),
};

type PageName = keyof typeof page;

interface Schema {
  parse(value: unknown): unknown;
}

describe('the error catalogue', () => {
  const problems = [apiProblems, webhookProblems, deliveryProblems].flatMap(table => Object.values(table));
  const findings = [apiFindings, webhookFindings, deliveryFindings].flatMap(table => Object.values(table));
  const statuses = Object.groupBy(
    [
      ...problems.map(({ code, status }) => ({ code, status })),
      ...findings.map(({ code }) => ({ code, status: apiProblems.validation_failed.status })),
      ...Object.values(oauthCases).map(([status, code]) => ({ code, status })),
    ],
    ({ code }) => code,
  );

  it.each(['docs/pt/erros.md', 'docs/en/errors.md'])('%s has an anchor for each code, and for nothing else', file => {
    const codes = readPage(file).headings.filter(({ level }) => level === 3);
    expect(codes.map(({ anchor }) => anchor).sort()).toEqual(Object.keys(statuses).sort());
  });

  it.each(Object.entries(statuses))('%s has its statuses', (code, rows = []) => {
    const [status = ''] = sectionOf(page.errors, code).split('\n');
    const named = [...status.matchAll(/\d{3}/g)].map(([number]) => Number(number));
    expect([...new Set(named)].sort()).toEqual([...new Set(rows.map(row => row.status))].sort());
  });

  it.each([
    ['docs/pt/erros.md', 'pt'],
    ['docs/en/errors.md', 'en'],
  ] as const)('%s shows refusals as they are', (file, language) => {
    const [problem, oauth] = readPage(file).blocks.map(({ text }) => JSON.parse(text));
    const { status, code } = apiProblems.validation_failed;
    expect(problem).toEqual({
      type: `https://docs.example.com/erros#${code}`,
      title: problemTitles[status][language],
      status,
      detail: apiProblems.validation_failed[language],
      code,
      errors: [{ pointer: '/url', code: 'url_not_https', detail: webhookFindings.https[language] }],
    });
    const [, error, error_description] = oauthCases.credentials_refused;
    expect(oauth).toEqual({ error, error_description });
  });

  it('names each field of a problem', () => {
    expect(firstCells(page.errors, 'How an error comes')).toEqual([Object.keys(problemBody.shape)]);
  });
});

describe('the events', () => {
  it('are all there', () => {
    const names = page.events.headings.map(({ text }) => text).filter(text => text.includes('.'));
    expect(names).toEqual(EVENT_NAMES);
    expect(firstCells(page.events, 'Which fields in which event')).toEqual([EVENT_NAMES]);
  });

  it.each(EVENT_NAMES)('%s: its fields and the sample are what is sent', name => {
    const message = { id_conta: 'acme', event: name, id_demanda: 10, id_proposta: 20 };
    const parsed = parseEventMessage(JSON.stringify(message), 'm1', 'https://demandas.example.com');
    if (parsed.outcome !== 'event') throw new Error(parsed.detail);
    expect(blocksOf(page.events, name)).toEqual([parsed.event.body]);
    const [table] = page.events.tables.filter(({ heading }) => heading === 'Which fields in which event');
    const row = table?.rows.find(([cell = '']) => cell.includes(`\`${name}\``));
    const body = JSON.parse(parsed.event.body);
    expect(inlineCode(row?.[1] ?? '')).toEqual(Object.keys(body));

    const kind = { 10: 'demand', 20: 'proposal' }[Number(body.link?.split('/').at(-1))];
    expect(row?.[2]).toBe(kind ?? 'none');
    const formats = page.events.tables.find(({ heading }) => heading === 'Link formats')?.rows ?? [];
    const format = formats.find(([cell]) => cell === kind)?.[1];
    const filled = format?.replaceAll('`', '').replace('<id_demanda>', '10').replace('<id_proposta>', '20');
    expect(filled?.replace('{demands_url}', 'https://demandas.example.com')).toBe(body.link);
  });

  it('have all their fields described', () => {
    expect(firstCells(page.events, 'Fields')).toEqual([['event', 'id_proposta', 'id_demanda', 'link']]);
  });
});

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
    ['a new secret', 'webhooks', 'Replace the secret', [Object.keys(secretRotation.shape)]],
    ['a list of deliveries', 'deliveries', 'List deliveries', [Object.keys(historyQuery.shape), recordFields]],
    ['a delivery', 'deliveries', 'Look up a delivery', [['corpo', ...attemptFields]]],
    [
      'a replay',
      'deliveries',
      'Replay a span of time',
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

  it('a replacement takes the fields that the page says', () => {
    expect(sectionOf(page.webhooks, 'Replace')).toContain('takes `url` and, if you like, `autorizacao`');
    expect(Object.keys(replacement.shape)).toEqual(['url', 'autorizacao']);
  });

  it('introspection names the members that an access token has', () => {
    const names = new Set(inlineCode(sectionOf(page.tokens, 'Look up a token')));
    expect(Object.keys(activeAccessToken.shape).filter(name => !names.has(name))).toEqual([]);
  });
});

describe('the sample answers are what the service answers', () => {
  const schemas: readonly [PageName, string, number, Schema][] = [
    ['tokens', 'Get a token', 1, tokenResponse],
    ['webhooks', 'Register', 1, registeredWebhook],
    ['webhooks', 'List and look up', 0, webhookList],
    ['webhooks', 'Replace the secret', 0, newSecret],
    ['webhooks', 'Test', 0, acceptedDelivery],
    ['deliveries', 'List deliveries', 0, deliveryPage],
    ['deliveries', 'Look up a delivery', 0, deliveryDetail],
    ['deliveries', 'Resend a delivery', 0, acceptedDelivery],
    ['deliveries', 'Replay a span of time', 1, replayRecord],
    ['quick-start', '5. Send a test', 2, deliveryPage],
  ];

  it.each(schemas)('%s, %s', (name, heading, index, schema) => {
    const sample = JSON.parse(blocksOf(page[name], heading)[index] ?? '');
    expect(schema.parse(sample)).toEqual(sample); // what a schema does not know it leaves out
  });

  const requests: readonly [PageName, string, Schema][] = [
    ['webhooks', 'Register', registration],
    ['webhooks', 'Replace', replacement],
    ['deliveries', 'Replay a span of time', replayRequest],
  ];

  it.each(requests)('%s, %s: so are the sample requests what it takes', (name, heading, schema) => {
    const [request = ''] = blocksOf(page[name], heading);
    expect(() => schema.parse(JSON.parse(request.split('\n\n')[1] ?? ''))).not.toThrow();
  });
});

describe.each(['docs/pt/recebimento.md', 'docs/en/receiving.md'])('the example of %s', file => {
  const shown = readPage(file);
  const example = shown.blocks.find(({ text }) => text.startsWith('segredo  '))?.text ?? '';
  const given = Object.fromEntries(example.split('\n').map(line => line.split(/ {2,}/)));
  const { segredo = '', 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', body = '' } = given;

  it('has the signature that the service makes', () => {
    expect(signatureHeader({ id, timestamp: Number(timestamp), body }, [segredo])).toBe(given['webhook-signature']);
  });

  it('has each step of the computation', () => {
    const key = Buffer.from(segredo.slice('whsec_'.length), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
    expect(given['key (hex)']).toBe(key.toString('hex'));
    expect(given.signed).toBe(`${id}.${timestamp}.${body}`);
    expect(given['hmac (hex)']).toBe(mac.toString('hex'));
    expect(given['webhook-signature']).toBe(`v1,${mac.toString('base64')}`);
  });

  it('is the delivery that the page shows', () => {
    const delivery = shown.blocks[0]?.text ?? '';
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      expect(delivery).toContain(`\n${name}: ${given[name]}\n`);
    expect(delivery.split('\n\n')[1]).toBe(body);
  });
});

describe('the numbers', () => {
  const stage = stageConfiguration('dev');
  const second = 1_000;
  const [minute, hour, day] = [60 * second, 60 * 60 * second, 24 * 60 * 60 * second];
  const units: readonly [number, string][] = [
    [hour, 'hours'],
    [minute, 'minutes'],
    [second, 'seconds'],
  ];
  const inWords = (ms: number) => {
    const [unit, name] = units.find(([length]) => ms >= length) ?? [1, 'milliseconds'];
    return `${ms / unit} ${name}`;
  };

  it('of the schedule are the configuration', () => {
    const rows = page.deliveries.tables.find(({ heading }) => heading === 'Attempts and waits')?.rows;
    const waits = ['none', ...stage.retrySchedule.map(inWords)];
    expect(rows).toEqual(waits.map((wait, index) => [String(index + 1), wait]));
    const total = stage.retrySchedule.reduce((sum, wait) => sum + wait, 0) / hour;
    const range = `${(total * 0.8).toFixed(1)} to ${total.toFixed(1)} hours`;
    expect(sectionOf(page.deliveries, 'Attempts and waits')).toContain(range);
    expect(sectionOf(page.deliveries, 'Attempts and waits')).toContain(`A delivery has ${waits.length} attempts`);
  });

  it.each([
    ['deliveries', 'Attempts and waits', `lasts ${inWords(stage.attemptTimeout)} at most`],
    ['deliveries', 'Attempts and waits', `${limits.connectTimeouts.first} milliseconds to accept`],
    ['deliveries', 'Attempts and waits', `or ${inWords(limits.connectTimeouts.slow)} if`],
    ['deliveries', 'Attempts and waits', `up to ${limits.maxRetryAfter / hour} hours`],
    ['deliveries', 'Attempts and waits', `less than ${inWords(limits.giveUpAfter)}`],
    ['deliveries', 'Attempts and waits', `At most ${stage.slowRate} attempts a second`],
    ['deliveries', 'Attempts and waits', `about ${limits.slowAttemptsInFlight / (stage.attemptTimeout / second)} if`],
    ['deliveries', 'Attempts and waits', `for ${limits.maxAge / day} days`],
    ['deliveries', 'Suspend and reactivate', `for ${limits.suspendAfter / day} days or more`],
    ['deliveries', 'Suspend and reactivate', `for ${stage.historyRetention / day} days`],
    ['deliveries', 'History', `${stage.historyRetention / day} days`],
    ['deliveries', 'Resend a delivery', `${stage.resendLimit} resends a minute`],
    ['deliveries', 'Replay a span of time', `${second / limits.replaySlotInterval} a second`],
    ['webhooks', 'Limits', `${stage.resendLimit} a minute and webhook`],
    ['webhooks', 'Limits', `${stage.testLimit} a minute and account`],
    ['webhooks', 'Test', `${stage.testLimit} tests a minute`],
    ['receiving', 'How to answer', `within ${inWords(stage.attemptTimeout)}`],
    ['receiving', 'How to answer', `up to ${limits.maxRetryAfter / hour} hours`],
    ['tokens', 'Lifetimes', `${inWords(stage.accessTokenLifetime)}`],
    ['tokens', 'Lifetimes', `${stage.refreshIdleLifetime / day} days unused`],
    ['tokens', 'Lifetimes', `${stage.refreshAbsoluteLifetime / day} days from the login`],
    ['tokens', 'Wrong passwords and limits', `| ${stage.addressFailureLimit} |`],
    ['tokens', 'Wrong passwords and limits', `| ${stage.clientFailureLimit} |`],
  ] as const)('%s, %s: %s', (name, heading, phrase) => {
    expect(sectionOf(page[name], heading)).toContain(phrase);
  });
});

function sectionOf({ headings, path }: Page, heading: string): string {
  const found = headings.find(({ text }) => text === heading);
  if (!found) throw new Error(`${path} has no section ${heading}.`);
  return found.lines.join('\n').trim();
}

function blocksOf({ blocks }: Page, heading: string): readonly string[] {
  return blocks.filter(block => block.heading === heading).map(({ text }) => text);
}

/** What the first cells of a section's tables name, table by table. */
function firstCells({ tables }: Page, heading: string): readonly (readonly string[])[] {
  return tables
    .filter(table => table.heading === heading)
    .map(({ rows }) => rows.map(([cell = '']) => inlineCode(cell)[0] ?? ''));
}
