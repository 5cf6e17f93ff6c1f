import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { type NoticeQueue, type ReceivedNotice, subscribeToRefusals } from '../support/e2e-notices.ts';
import { until } from '../support/e2e-poll.ts';
import { send } from '../support/e2e-queues.ts';
import { describeWith, plant } from '../support/e2e-target.ts';

/** Sends a message until a notice tells of one of the copies: others may have used up the minute's notices of this sender. */
const toldOf = async (queue: NoticeQueue, body: () => string, sender?: string): Promise<ReceivedNotice> => {
  const messageIds: string[] = [];
  for (let tries = 1; ; tries++) {
    messageIds.push(await send(body(), 'e2e', sender));
    const isOurs = (notice: ReceivedNotice) => messageIds.includes(String(notice.body.messageId));
    const find = async () => (await queue.received()).find(isOurs);
    const notice = await until('the notice', find, 6_000, 100).catch(error => {
      if (tries === 15) throw error;
      return undefined;
    });
    if (notice) return notice;
  }
};

/** Waits until a minute has half of it left: a burst is then of one minute, if the clocks agree. */
const untilEarlyInMinute = async (): Promise<void> => {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 30_000) await pause(left + 500);
};

const patient = 120_000;

describeWith(['engines'], 'a refused event', () => {
  let queue: NoticeQueue;
  beforeAll(async () => {
    queue = await subscribeToRefusals();
  });
  afterAll(() => queue?.stop());

  it(
    'is told to who subscribed: message id, own id, sender, reason, detail, and nothing else of its body',
    async () => {
      const canary = plant(`Canary${unique()}`);
      const id = `own-${unique()}`;
      const body = {
        id_conta: 'e2e',
        event: 'demanda.criada',
        id_demanda: canary,
        id,
        autorizacao: canary,
        [canary]: 1,
      };
      const { body: notice, attributes } = await toldOf(queue, () => JSON.stringify(body), `AIDA${unique()}`);
      expect(notice).toEqual({
        messageId: expect.stringMatching(/\S/),
        id,
        sender: expect.stringMatching(/\S/),
        reason: 'malformed',
        detail: expect.stringMatching(/^id_demanda: /),
      });
      expect(attributes).toEqual({ sender: notice.sender, reason: 'malformed' });
      for (const { text } of await queue.received()) expect(text).not.toContain(canary);
    },
    patient,
  );
});

describeWith(['engines'], 'a subscription with a filter by sender', () => {
  it('gets ten notices a minute of a role, of all its sessions, and none of another', {
    timeout: patient,
  }, async () => {
    const [mine, other] = [`AROA${unique()}`, `AROA${unique()}`];
    const queue = await subscribeToRefusals({ sender: [{ prefix: mine }] });
    const atLeast = (notices: number) =>
      until(`${notices} notices`, async () => ((await queue.received()).length >= notices ? true : undefined), 10_000);
    try {
      const [, one, two] = [
        await send('no JSON', 'e2e', `${other}:session`),
        await send('no JSON', 'e2e', `${mine}:one`),
        await send('no JSON', 'e2e', `${mine}:two`),
      ];
      await atLeast(2);
      const senders = (await queue.received()).map(({ body }) => [body.messageId, body.sender] as const);
      expect(new Map(senders)).toEqual(
        new Map([
          [one, `${mine}:one`],
          [two, `${mine}:two`],
        ]),
      );
      await untilEarlyInMinute();
      for (let message = 0; message < 12; message++) await send('no JSON', 'e2e', `${mine}B:${message % 2}`);
      await atLeast(2 + 10);
      await pause(1_000);
      const notices = await queue.received();
      expect(notices).toHaveLength(2 + 10);
      for (const { body } of notices) expect(body.sender).toMatch(new RegExp(`^${mine}B?:`));
    } finally {
      await queue.stop();
    }
  });
});
