import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, it, vi } from 'vitest';
import { webhookKey } from '../../../lambdas/webhooks/webhook.ts';
import { makeStage, type Stage } from '../../support/stage.ts';

/* Changes of one webhook at the same time (`docs/en/webhooks.md`). */

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

const path = '/v1/webhooks/demanda.criada';
const all = <Result>(ask: (at: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: 10 }, (_, at) => ask(at)));

it.each([
  ['PUT', path, (at: number) => ({ url: `https://receiver.example.com/${at}` }), 200],
  ['POST', `${path}/segredo`, () => ({ imediato: true }), 201],
])('ten times %s %s at once succeed', async (method, at, bodyOf, status) => {
  const answers = await all(number => stage.request(method, at, { body: bodyOf(number) }));
  expect(answers.map(answer => answer?.status)).toEqual(Array(10).fill(status));
});

it('one of ten DELETEs at once succeeds, and the others find no webhook', async () => {
  const answers = await all(() => stage.request('DELETE', path));
  expect(answers.map(answer => answer?.status).toSorted()).toEqual([204, ...Array(9).fill(404)]);
});

it('a DELETE that loses its race succeeds, and keeps a later registration', async () => {
  let isFirst = true;
  const { execute } = stage.tables;
  vi.spyOn(stage.tables, 'execute').mockImplementation(command => {
    if (isFirst && JSON.stringify(command.input).includes('"ConditionExpression"')) {
      isFirst = false;
      const [TableName, Key] = ['Webhooks', webhookKey('conta-1', 'demanda.criada')];
      const { Item } = execute(new GetCommand({ TableName, Key }));
      execute(new PutCommand({ TableName, Item: { ...Item, webhookId: 'wh_later' } }));
    }
    return execute(command);
  });
  expect((await stage.request('DELETE', path))?.status).toBe(204);
  expect((await stage.request('GET', path))?.status).toBe(200);
});

it('a change that loses every race is refused within 3 s, and its log line names the cause', async () => {
  const { execute } = stage.tables;
  vi.spyOn(stage.tables, 'execute').mockImplementation(command => {
    const input = JSON.stringify(command.input);
    if (!input.includes('"ConditionExpression"') || input.includes('limit#')) return execute(command);
    throw Object.assign(new Error('lost'), { name: 'ConditionalCheckFailedException' });
  });
  const range = { desde: '2026-11-19T00:00:00Z', ate: '2026-11-20T00:00:00Z', estado: 'falhou' };
  const busy = { status: 503, headers: { 'retry-after': '1' }, json: { code: 'temporarily_unavailable' } };
  for (const [method, at, sent] of [
    ['PUT', path, { body: { url: 'https://receiver.example.com/' } }],
    ['POST', `${path}/segredo`, {}],
    ['DELETE', path, {}],
    ['POST', `${path}/reenvios`, { body: range }],
  ] as const) {
    const started = stage.now();
    expect(await stage.request(method, at, sent)).toMatchObject(busy);
    expect(stage.now() - started).toBeGreaterThan(0);
    expect(stage.now() - started).toBeLessThan(3_000);
    expect(JSON.parse(stage.lines.at(-1) ?? '')).toMatchObject(['api.refused', { reason: 'contended' }]);
  }
});
