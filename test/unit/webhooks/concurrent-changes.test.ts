import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, it, vi } from 'vitest';
import { webhookKey } from '../../../lambdas/webhooks/webhook.ts';
import { makeStage, type Stage } from '../../support/stage.ts';

/* Tests concurrent changes to one webhook (`docs/en/webhooks.md`). */

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

const path = '/v1/webhooks/demanda.criada';
const tenTimes = <Result>(send: (at: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: 10 }, (_, at) => send(at)));

it.each([
  ['PUT', path, (at: number) => ({ url: `https://receiver.example.com/${at}` }), 200],
  ['POST', `${path}/segredo`, () => ({ imediato: true }), 201],
])('ten concurrent requests %s %s succeed', async (method, at, bodyOf, status) => {
  const responses = await tenTimes(number => stage.request(method, at, { body: bodyOf(number) }));
  expect(responses.map(response => response?.status)).toEqual(Array(10).fill(status));
});

it('one of ten concurrent DELETE requests succeeds, and the others return 404', async () => {
  const responses = await tenTimes(() => stage.request('DELETE', path));
  expect(responses.map(response => response?.status).toSorted()).toEqual([204, ...Array(9).fill(404)]);
});

it('a DELETE request that loses a race succeeds and does not remove a later registration', async () => {
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

it('a change that loses every race returns 503 within 3 s and logs the cause', async () => {
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
    const startedAt = stage.now();
    expect(await stage.request(method, at, sent)).toMatchObject(busy);
    expect(stage.now() - startedAt).toBeGreaterThan(0);
    expect(stage.now() - startedAt).toBeLessThan(3_000);
    expect(JSON.parse(stage.lines.at(-1) ?? '')).toMatchObject(['api.refused', { reason: 'concurrent_change' }]);
  }
});
