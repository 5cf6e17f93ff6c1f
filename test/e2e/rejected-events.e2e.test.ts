import { afterAll, beforeAll, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { snsClientOf, sqsClientOf } from '../../tools/support/engines.ts';
import { send } from '../support/e2e-service.ts';
import { describeWith, output, outputs, registerSecret, until } from '../support/e2e-target.ts';
import { subscribeQueue } from '../support/topic-queue.ts';

// A topic notifies publishers of rejected events (contract, section 6).

type Notices = Awaited<ReturnType<typeof subscribe>>;

/** Subscribes to the notices. `received` returns all notices so far. */
async function subscribe(filterPolicy?: object) {
  const topic = output('RejectedEventsTopicArn');
  const queue = await subscribeQueue(sqsClientOf(outputs), snsClientOf(outputs), topic, filterPolicy);
  const notices: { text: string; body: Record<string, unknown>; attributes: Record<string, string | undefined> }[] = [];
  const received = async () => {
    for (const { Body: text = '', MessageAttributes = {} } of await queue.receive()) {
      const attributes = Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]);
      notices.push({ text, body: JSON.parse(text), attributes: Object.fromEntries(attributes) });
    }
    return notices;
  };
  return { received, stop: queue.stop };
}

/** Sends copies of a message until a notice arrives for one of them. Other tests may have exhausted the limit of notices for this minute. */
const noticeOf = async (queue: Notices, body: string, sender: string) => {
  const messageIds: string[] = [];
  for (let tries = 1; ; tries++) {
    messageIds.push(await send(body, 'e2e', sender));
    const find = async () =>
      (await queue.received()).find(({ body: notice }) => messageIds.includes(String(notice.messageId)));
    const notice = await until('the notice', find, 6_000, 100).catch(error => {
      if (tries === 15) throw error;
      return undefined;
    });
    if (notice) return notice;
  }
};

const options = { timeout: 120_000 };

describeWith(['engines'], 'the notice about a rejected event', () => {
  let queue: Notices;
  beforeAll(async () => {
    queue = await subscribe();
  });
  afterAll(() => queue?.stop());

  it('has the message id, event id, sender, reason and detail, and no other part of the body', options, async () => {
    const canary = registerSecret(`Canary${unique()}`);
    const own = { id_conta: 'e2e', event: 'demanda.criada', id: `own-${unique()}` };
    const body = JSON.stringify({ ...own, id_demanda: canary, autorizacao: canary, [canary]: 1 });
    const { body: notice, attributes } = await noticeOf(queue, body, `AIDA${unique()}`);
    expect(notice).toEqual({
      messageId: expect.stringMatching(/\S/),
      id: own.id,
      sender: expect.stringMatching(/\S/),
      reason: 'malformed',
      detail: expect.stringMatching(/^id_demanda: /),
    });
    expect(attributes).toEqual({ sender: notice.sender, reason: 'malformed' });
    for (const { text } of await queue.received()) expect(text).not.toContain(canary);
  });
});

describeWith(['engines'], 'a subscription with a filter for one role', () => {
  it('receives only notices about events from that role', options, async () => {
    const [roleId, other] = [`AROA${unique()}`, `AROA${unique()}`];
    const queue = await subscribe({ sender: [{ prefix: roleId }] });
    const others = await subscribe({ sender: [{ prefix: other }] });
    try {
      await noticeOf(others, 'no JSON', `${other}:session`);
      for (const sender of [`${roleId}:one`, `${roleId}:two`])
        expect((await noticeOf(queue, 'no JSON', sender)).body.sender).toBe(sender);
      for (const { body } of await queue.received()) expect(body.sender).toMatch(new RegExp(`^${roleId}:`));
    } finally {
      await queue.stop();
      await others.stop();
    }
  });
});
