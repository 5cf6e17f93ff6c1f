import { beforeEach, describe, expect, it } from 'vitest';
import type { RejectionNotice } from '../../../../lambdas/delivery/intake/rejection-notice.ts';
import { makeRejectionNotices } from '../../../../lambdas/delivery/intake/rejection-notices.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { fakeTelemetry } from '../builders.ts';

let stage: Stage;
beforeEach(() => {
  stage = makeStage();
});

const validEvent = { id_conta: 'c', event: 'demanda.criada', id_demanda: 7 };
const notice = (changes: Partial<RejectionNotice> = {}): RejectionNotice => ({
  messageId: 'message-1',
  id: null,
  sender: 'AROAPUBLISHER:one',
  reason: 'malformed',
  detail: 'no JSON',
  ...changes,
});

describe('a rejected event', () => {
  it('causes a notice with the message id, the publisher’s id, the sender, the reason and the detail', async () => {
    const messageId = stage.publish({ ...validEvent, id: 'demand-7', id_demanda: 'seven' });
    await stage.pass(1);
    const detail = 'id_demanda: must be a whole number from 1 to 2^53 - 1';
    expect(stage.notices()).toEqual([notice({ messageId, id: 'demand-7', detail })]);
  });

  it('causes a notice with the original message id after a redrive', async () => {
    stage.publish('no JSON', { original_message_id: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f' });
    await stage.pass(1);
    expect(stage.notices()).toMatchObject([{ messageId: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f' }]);
  });

  it.each([
    ['no JSON', '{"id":"x"', null],
    ['no object', '["x"]', null],
    ['no id', { event: 'x' }, null],
    ['a number as id', { event: 'x', id: 5 }, null],
    ['an object as id', { event: 'x', id: { secreto: 1 } }, null],
    ['an empty id', { event: 'x', id: '' }, ''],
    ['an id of 128 characters', { event: 'x', id: '😀'.repeat(128) }, '😀'.repeat(128)],
    ['a longer id, which is truncated to 128 characters', { event: 'x', id: '😀'.repeat(200_000) }, '😀'.repeat(128)],
    ['an id that is a lone surrogate', { event: 'x', id: '\ud83d' }, '\ud83d'],
    ['an id that SQS accepts only if it is escaped', '{"event":"x","id":"\\ufffe"}', '\ufffe'],
  ])('causes a notice for a message with %s', async (_case, message, id) => {
    stage.publish(message);
    await stage.pass(1);
    expect(stage.notices()).toMatchObject([{ id }]);
    expect(stage.published()[0]?.Message).toMatch(/^[ -~]+$/);
  });

  it('is not quoted in the notice or the log, except for its id', async () => {
    const canary = 'Canary8F2C';
    const body = { [canary]: canary, id_conta: `${canary} `, id_demanda: canary, autorizacao: canary, link: canary };
    const original_message_id = `ana@example.com ${canary}`; // any sender can set attributes
    for (const event of [canary, 'demanda.criada', 5]) stage.publish({ ...body, event }, { original_message_id });
    await stage.pass(1);
    expect(stage.notices()).toHaveLength(3);
    expect(JSON.stringify([stage.notices(), stage.lines])).not.toContain(canary);
  });

  it('has its account and event in the log, but not in the notice', async () => {
    stage.publish({ id_conta: 'conta-1', event: 'demanda.criada' });
    await stage.pass(1);
    const line = stage.lines.find(line => line.includes('event.rejected'));
    expect(line).toContain('"account":"conta-1","event":"demanda.criada"');
    expect(JSON.stringify(stage.notices())).not.toContain('conta-1');
  });

  it('stays in its queue while the dead-letter queue fails', async () => {
    stage.faults.outcomeOf = ({ operation }) => (operation === 'SendMessage' ? 'failed' : 'fine');
    stage.publish('no JSON');
    await stage.pass(100);
    expect(stage.deferrals()).toEqual(['InternalServerError']);
    expect(stage.waiting('events')).toHaveLength(1);
  });

  it('causes only one dead-letter message if its deletion fails', async () => {
    stage.faults.outcomeOf = ({ operation }) => (operation === 'DeleteMessage' ? 'failed' : 'fine');
    stage.publish('no JSON');
    await stage.pass(100);
    expect(stage.deadLetters()).toHaveLength(1);
    expect(stage.logged('message.not_deleted')).toBe(1);
  });

  it('has no attribute for an unknown sender, because SQS rejects empty attributes', async () => {
    stage.publish('no JSON', {}, '');
    await stage.pass(1);
    expect(stage.deadLetters()).toEqual([expect.not.objectContaining({ sender: expect.anything() })]);
  });

  it.each(['SendMessage', 'Publish'])(
    'causes one dead-letter message, before its notice, if the process dies before %s',
    async dying => {
      stage.faults.outcomeOf = ({ operation }) => (operation === dying ? 'dies_before' : 'fine');
      stage.publish('no JSON');
      await stage.pass(1);
      expect(stage.notices().length).toBeLessThanOrEqual(stage.deadLetters().length);
      stage.faults.outcomeOf = undefined;
      await stage.settle();
      expect(stage.deadLetters()).toHaveLength(1);
    },
  );

  it('is acknowledged while the topic is down, and the failure is counted and logged', async () => {
    stage.faults.outcomeOf = ({ service }) => (service === 'sns' ? 'failed' : 'fine');
    stage.publish('no JSON');
    stage.publish('no JSON');
    await stage.pass(100);
    expect(stage.deadLetters()).toHaveLength(2);
    expect(stage.waiting('events')).toEqual([]);
    expect(stage.counts).toEqual({ NoticeNotSent: 2 });
    expect(stage.lines.filter(line => line.includes('notice.not_sent'))).toHaveLength(2);
  });
});

it('a copy of an event is dropped and logged, and causes a notice if its fields differ', async () => {
  await stage.register();
  stage.publishEvent({ id: 'demand-7' });
  await stage.pass(1);
  stage.publishEvent({ id: 'demand-7' });
  const messageId = stage.publishEvent({ id: 'demand-7', id_demanda: 8 });
  await stage.settle();
  expect(stage.posts).toHaveLength(1);
  expect([stage.logged('event.duplicate'), stage.logged('event.conflicting_copy')]).toEqual([1, 1]);
  expect(stage.notices()).toMatchObject([{ id: 'demand-7', messageId, reason: 'id_reused' }]);
  expect(stage.deadLetters()).toEqual([]);
});

describe('the notices of a process', () => {
  const startProcess = (publish: (notice: RejectionNotice) => Promise<void>) => {
    const telemetry = fakeTelemetry();
    const notices = makeRejectionNotices({ ...telemetry, publish, now: stage.now });
    const add = (times: number, changes: Partial<RejectionNotice> = {}) => {
      for (let message = 0; message < times; message++) notices.add(notice({ messageId: `m-${message}`, ...changes }));
    };
    return { ...notices, add, telemetry };
  };

  it('are limited to ten per clock minute and reason, for all senders together', async () => {
    const sent: RejectionNotice[] = [];
    const { add, settled } = startProcess(async one => void sent.push(one));
    const count = (expected: string) => sent.filter(({ reason }) => reason === expected).length;
    add(8);
    add(8, { sender: 'AIDAUSER' });
    add(1, { reason: 'id_reused' });
    await stage.pass(59_999);
    add(1);
    await settled();
    expect([count('malformed'), count('id_reused'), sent.length]).toEqual([10, 1, 11]);
    await stage.pass(1);
    add(12);
    await settled();
    expect(count('malformed')).toBe(20);
  });

  it('count even if they fail, so a topic that is down receives ten calls', async () => {
    const { add, settled, telemetry } = startProcess(() => Promise.reject(new Error('the topic is down')));
    add(30);
    await settled();
    expect(telemetry.counts).toEqual({ NoticeNotSent: 10 });
  });

  it('are all sent or have failed before an invocation ends', async () => {
    const hanging = Promise.withResolvers<void>();
    const { add, settled } = startProcess(() => hanging.promise);
    add(1);
    const settling = settled().then(() => 'settled');
    expect(await Promise.race([settling, new Promise(setImmediate)])).not.toBe('settled');
    hanging.resolve();
    expect(await settling).toBe('settled');
  });
});
