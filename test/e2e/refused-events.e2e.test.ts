import { afterAll, beforeAll, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { send } from '../support/e2e-service.ts';
import { describeWith, plant, until } from '../support/e2e-target.ts';
import { type NoticeQueue, type ReceivedNotice, subscribeToRefusals } from './notices.ts';

/** Sends a message until a notice tells of one of the copies: others may have used up the minute's notices of this reason. */
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
  it('gets notices of all sessions of a role, and none of another role', { timeout: patient }, async () => {
    const [mine, other] = [`AROA${unique()}`, `AROA${unique()}`];
    const queue = await subscribeToRefusals({ sender: [{ prefix: mine }] });
    const others = await subscribeToRefusals({ sender: [{ prefix: other }] });
    try {
      await toldOf(others, () => 'no JSON', `${other}:session`);
      for (const sender of [`${mine}:one`, `${mine}:two`]) {
        const { body } = await toldOf(queue, () => 'no JSON', sender);
        expect(body.sender).toBe(sender);
      }
      for (const { body } of await queue.received()) expect(body.sender).toMatch(new RegExp(`^${mine}:`));
    } finally {
      await queue.stop();
      await others.stop();
    }
  });
});
