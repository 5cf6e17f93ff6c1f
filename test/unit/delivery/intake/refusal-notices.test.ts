import { beforeEach, describe, expect, it } from 'vitest';
import type { RefusalNotice } from '../../../../lambdas/delivery/intake/refusal-notice.ts';
import { makeRefusalNotices } from '../../../../lambdas/delivery/intake/refusal-notices.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { fakeTelemetry } from '../builders.ts';

let stage: Stage;
beforeEach(() => {
  stage = makeStage();
});

const whole = { id_conta: 'c', event: 'demanda.criada', id_demanda: 7 };
const notice = (changes: Partial<RefusalNotice> = {}): RefusalNotice => ({
  messageId: 'message-1',
  id: null,
  sender: 'AROAPUBLISHER:one',
  reason: 'malformed',
  detail: 'no JSON',
  ...changes,
});

describe('a refused event', () => {
  it('is told to its publisher: message id, own id, sender, reason and detail', async () => {
    const messageId = stage.publish({ ...whole, id: 'demand-7', id_demanda: 'seven' });
    await stage.pass(1);
    expect(stage.notices()).toEqual([
      {
        messageId,
        id: 'demand-7',
        sender: 'AROAPUBLISHER:one',
        reason: 'malformed',
        detail: 'id_demanda: must be a whole number from 1 to 2^53 - 1',
      },
    ]);
  });

  it('is told under the message id that its publisher got, though an operator sent it again', async () => {
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
    ['a longer id: it is cut to 128 characters', { event: 'x', id: '😀'.repeat(200_000) }, '😀'.repeat(128)],
    ['an id of half a character', { event: 'x', id: '\ud83d' }, '\ud83d'],
    ['an id that SQS takes escaped only', '{"event":"x","id":"\\ufffe"}', '\ufffe'],
  ])('with %s', async (_case, message, id) => {
    stage.publish(message);
    await stage.pass(1);
    expect(stage.notices()).toMatchObject([{ id }]);
    expect(stage.published()[0]?.Message).toMatch(/^[ -~]+$/);
  });

  it('is in no notice and no line of the log with anything else of its body or attributes', async () => {
    const canary = 'Canary8F2C';
    const body = { [canary]: canary, id_conta: `${canary} `, id_demanda: canary, autorizacao: canary, link: canary };
    const original_message_id = `ana@example.com ${canary}`; // anybody can write attributes
    for (const event of [canary, 'demanda.criada', 5]) stage.publish({ ...body, event }, { original_message_id });
    await stage.pass(1);
    expect(stage.notices()).toHaveLength(3);
    expect(JSON.stringify([stage.notices(), stage.lines])).not.toContain(canary);
  });

  it('names its account and its event in the log, where they can be ones: operators list what came for an account', async () => {
    stage.publish({ id_conta: 'conta-1', event: 'demanda.criada' });
    await stage.pass(1);
    const refused = stage.lines.find(line => line.includes('event.refused'));
    expect(refused).toContain('"account":"conta-1","event":"demanda.criada"');
    expect(JSON.stringify(stage.notices())).not.toContain('conta-1');
  });

  it.each(['SendMessage', 'Publish'])(
    'is notified only once it is stored, and is one dead letter, even if its process dies before its %s',
    async dying => {
      stage.faults.fateOf = ({ operation }) => (operation === dying ? 'dies_before' : 'fine');
      stage.publish('no JSON');
      await stage.pass(1);
      expect(stage.notices().length).toBeLessThanOrEqual(stage.deadLetters().length);
      stage.faults.fateOf = undefined;
      await stage.settle();
      expect(stage.deadLetters()).toHaveLength(1);
    },
  );

  it('stays refused and acknowledged while the topic is down, which is counted and logged', async () => {
    stage.faults.fateOf = ({ service }) => (service === 'sns' ? 'failed' : 'fine');
    stage.publish('no JSON');
    stage.publish('no JSON');
    await stage.pass(100);
    expect(stage.deadLetters()).toHaveLength(2);
    expect(stage.waiting('events')).toEqual([]);
    expect(stage.counts).toEqual({ RefusalNotTold: 2 });
    expect(stage.lines.filter(line => line.includes('refusal.not_told'))).toHaveLength(2);
  });
});

describe('the notices of one process', () => {
  const startProcess = (publish: (notice: RefusalNotice) => Promise<void>) => {
    const telemetry = fakeTelemetry();
    const refusals = makeRefusalNotices({ ...telemetry, publish, now: stage.now });
    const add = (times: number, changes: Partial<RefusalNotice> = {}) => {
      for (let message = 0; message < times; message++) refusals.add(notice({ messageId: `m-${message}`, ...changes }));
    };
    return { ...refusals, add, telemetry };
  };

  it('are at most ten in a minute for each reason, of all senders together', async () => {
    const sent: RefusalNotice[] = [];
    const { add, settled } = startProcess(async one => void sent.push(one));
    add(8);
    add(8, { sender: 'AIDAUSER' });
    add(11, { reason: 'unknown_event' });
    add(1, { reason: 'id_reused' });
    await settled();
    const counts = Map.groupBy(sent, ({ reason }) => reason);
    expect([...counts].map(([reason, { length }]) => [reason, length])).toEqual([
      ['malformed', 10],
      ['unknown_event', 10],
      ['id_reused', 1],
    ]);
    expect(sent.slice(7, 10).map(({ sender }) => sender)).toEqual(['AROAPUBLISHER:one', 'AIDAUSER', 'AIDAUSER']);
  });

  it('are ten more in the next minute', async () => {
    let sent = 0;
    const { add, settled } = startProcess(async () => void sent++);
    add(11);
    await stage.pass(59_999);
    add(1);
    await settled();
    expect(sent).toBe(10);
    await stage.pass(1);
    add(12);
    await settled();
    expect(sent).toBe(20);
  });

  it('are independent of those of another process', async () => {
    let sent = 0;
    const processes = [1, 2].map(() => startProcess(async () => void sent++));
    for (const { add } of processes) add(11);
    await Promise.all(processes.map(({ settled }) => settled()));
    expect(sent).toBe(20);
  });

  it('use up the minute when they fail: a topic that is down gets ten calls', async () => {
    const { add, settled, telemetry } = startProcess(() => Promise.reject(new Error('the topic is down')));
    add(30);
    await settled();
    expect(telemetry.counts).toEqual({ RefusalNotTold: 10 });
  });

  it('are all sent or failed before an invocation may end', async () => {
    const hanging = Promise.withResolvers<void>();
    const { add, settled } = startProcess(() => hanging.promise);
    add(1);
    let isSettled = false;
    const settling = settled().then(() => {
      isSettled = true;
    });
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    hanging.resolve();
    await settling;
  });
});
