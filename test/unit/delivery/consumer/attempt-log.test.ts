import { beforeEach, expect, it } from 'vitest';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { aResponse } from '../builders.ts';

let stage: Stage;
let messageId = '';
beforeEach(async () => {
  stage = makeStage();
  await stage.register({ url: 'https://receiver.example.com/?token=canary-url' });
});

const lines = async () => {
  messageId = stage.publishEvent();
  await stage.pass(1);
  return stage.lines.map(line => JSON.parse(line));
};

it('an attempt logs one line without the URL, the body or the response', async () => {
  stage.answers.push(aResponse(500, {}, 'canary-response'));
  const written = await lines();
  const ids = { deliveryId: stage.only().id, account: 'conta-1', event: 'demanda.criada', messageId, attempt: 1 };
  const outcome = { result: 'http', cause: null, status: 500, durationMs: 0, host: 'receiver.example.com' };
  const next = { state: 'pending', nextAttemptAt: '2026-11-20T12:00:04.500Z' };
  expect(written).toEqual([['delivery.attempt', { ...ids, ...outcome, ...next }]]);
});

it('the log line of an attempt without a response contains the cause and the error code', async () => {
  stage.answers.push({ outcome: 'connection', cause: 'reset', errorCode: 'EPIPE', durationMs: 1 });
  const fields = { result: 'connection', cause: 'reset', status: null, errorCode: 'EPIPE' };
  expect(await lines()).toMatchObject([['delivery.attempt', fields]]);
});

const error = { cause: null, errorCode: '', durationMs: 1 };
const internalErrors = { InternalError: 1 };

it.each([
  ['a success', aResponse(200), { Delivered: 1 }, {}],
  ['a failure', aResponse(401), { Delivered: 0 }, {}],
  ['a blocked address', { ...error, outcome: 'blocked' }, { Delivered: 0, Blocked: 1 }, { Blocked: 1 }],
  ['an internal error', { ...error, outcome: 'internal_error' }, { Delivered: 0, ...internalErrors }, internalErrors],
] as const)('counts an attempt that ends with %s, and counts Delivered only for events', async (...row) => {
  const [, postOutcome, eventCounts, testCounts] = row;
  stage.answers.push(postOutcome);
  stage.publishEvent();
  await stage.pass(1);
  expect(stage.counts).toEqual(eventCounts);

  const otherStage = makeStage();
  await otherStage.register();
  otherStage.answers.push(postOutcome);
  await otherStage.request('POST', '/v1/webhooks/demanda.criada/teste');
  await otherStage.pass(1);
  expect(otherStage.counts).toEqual(testCounts);
});

it('a consumer acknowledges its messages when the last attempt has ended', async () => {
  for (let event = 0; event < 3; event++) stage.publishEvent();
  await stage.pass(1);
  expect(stage.waiting('events')).toEqual([]);
});
