import { beforeEach, describe, expect, it } from 'vitest';
import { deliveryIdOf } from '../../../../lambdas/delivery/intake/event.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { answer } from '../builders.ts';

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

const event = { id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: 'pub-1' };
const id = deliveryIdOf('conta-1', 'demanda.criada', 'pub-1');

describe('a first attempt', () => {
  it('is made once, however often the event is published or the queue delivers it', async () => {
    stage.publish(event);
    await stage.pass(1);
    stage.publish(event);
    stage.publish(event);
    await stage.settle();
    expect(stage.posts).toHaveLength(1);
    expect(stage.logged('event.duplicate')).toBe(2);
  });

  // Bug: of copies that came at the same moment nobody was told.
  it.each([
    ['after it is not made either', 'event.duplicate', 1, 1, 1],
    ['at the same time', 'delivery.stale', 2, 3, 0],
  ])(
    'of a copy with another content %s: it is logged apart from harmless copies',
    async (_, harmless, copies, posts, later) => {
      stage.publish(event);
      if (later > 0) await stage.pass(later);
      stage.publish(event);
      const messageId = stage.publish({ ...event, id_demanda: 8 });
      await stage.settle();
      expect(stage.posts).toHaveLength(posts);
      expect(stage.logged(harmless)).toBe(copies);
      expect(stage.logged('event.conflicting_copy')).toBe(1);
      const [line = ''] = stage.lines.filter(text => text.includes('event.conflicting_copy'));
      expect(line).toContain(id);
      expect(line).not.toContain('id_demanda');
      expect(stage.notices()).toEqual([
        {
          messageId,
          id: expect.any(String),
          sender: expect.any(String),
          reason: 'id_reused',
          detail:
            'id: an earlier event of this account and name has it, with other fields; that one counts, this was dropped',
        },
      ]);
      expect(stage.deadLetters()).toEqual([]);
    },
  );

  it('is not made without webhook: the event is counted, logged and not stored', async () => {
    await stage.remove();
    stage.publish(event);
    await stage.settle();
    expect(stage.posts).toEqual([]);
    expect(stage.deliveries()).toEqual([]);
    expect(stage.counts).toEqual({ EventWithoutWebhook: 1 });
    expect(stage.lines.join()).toContain(id);
  });

  it.each([
    [500, 1],
    [501, 0],
  ])('where the queue’s clock is %i ms behind the registration’s is made %i times', async (behind, times) => {
    await stage.register({ createdAt: stage.now() + behind });
    stage.publish(event);
    await stage.settle();
    expect(stage.posts).toHaveLength(times);
  });

  // A redrive sets a message's time to that of the redrive: an old event reached a webhook registered since.
  it('is not made of an old event that a redrive put back for a webhook registered since', async () => {
    const published = new Date(stage.now()).toISOString();
    await stage.pass(60_000);
    await stage.register();
    stage.publish(event, { original_sent_at: published });
    await stage.settle();
    expect(stage.posts).toEqual([]);
    expect(stage.counts).toEqual({ EventWithoutWebhook: 1 });
  });

  it('is made of a redriven event as of the event it was: published then, under that message id', async () => {
    const published = stage.now();
    await stage.pass(60_000);
    const { id: _, ...unnamed } = event;
    const attributes = {
      original_sent_at: new Date(published).toISOString(),
      original_message_id: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
    };
    stage.publish(unnamed, attributes);
    await stage.settle();
    const first = deliveryIdOf('conta-1', 'demanda.criada', '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f');
    expect(stage.deliveries()).toMatchObject([{ id: first, createdAt: published }]);
  });

  // Its schedule began with its origin: what had lain for ten days ended without an attempt, or with a fault of ours.
  it('is made of an event that lay for eleven days before it was redriven, with all the time for internal errors', async () => {
    const original_sent_at = new Date(stage.now()).toISOString();
    await stage.skip(11 * 86_400_000);
    stage.answers.push({ outcome: 'internal_error', cause: null, errorCode: 'EMFILE', durationMs: 1 });
    stage.publish(event, { original_sent_at });
    await stage.pass(1);
    expect(stage.deliveries()).toMatchObject([{ state: 'pending', internalErrors: 1 }]);
    await stage.settle();
    expect(stage.deliveries()).toMatchObject([{ state: 'delivered' }]);
  });

  it('is made of an event whose origin is put in the future, or is no time, as of any other', async () => {
    stage.publish(event, { original_sent_at: new Date(stage.now() + 60_000).toISOString() });
    stage.publish({ ...event, id: 'another' }, { original_sent_at: 'yesterday', original_message_id: 'a\nb' });
    const published = stage.now();
    await stage.settle();
    expect(stage.deliveries().map(({ createdAt }) => createdAt)).toEqual([published, published]);
  });

  it.each([
    ['malformed', 'no JSON: canary-7f3a'],
    ['unknown_event', '{"id_conta":"conta-1", "event":"canary-7f3a"}'],
  ])('is not made of a message that is %s: it goes to the dead-letter queue as it is', async (reason, body) => {
    const original_sent_at = new Date(stage.now()).toISOString();
    const original_message_id = stage.publish(body);
    await stage.settle();
    const origin = { original_message_id, original_sent_at };
    expect(stage.deadLetters()).toEqual([
      { body, reason, detail: expect.any(String), sender: expect.any(String), ...origin },
    ]);
    expect(stage.logged('event.refused')).toBe(1);
    expect(stage.lines.join()).not.toContain('canary-7f3a');
  });
});

describe('a delivery', () => {
  it.each(['conta-1', 'conta-2'])('of %s is POSTed as its own, with its lane’s time to connect', async accountId => {
    await stage.register({ accountId });
    stage.answers.push(answer(500));
    stage.publish({ ...event, id_conta: accountId });
    await stage.request('POST', '/v1/webhooks/demanda.criada/teste', { token: `admin|webhooks:manage|${accountId}` });
    await stage.settle();
    expect(stage.posts).toMatchObject([
      { accountId, lane: 'first', connectTimeoutMs: 700 },
      { accountId, lane: 'slow', connectTimeoutMs: 4_000 },
      { accountId, lane: 'retry', connectTimeoutMs: 700 },
    ]);
  });

  it('is attempted once per wait of the schedule, and then failed', async () => {
    stage.answers.push(...Array.from({ length: 10 }, () => answer(500)));
    stage.publish(event);
    await stage.settle();
    expect(stage.deliveries()).toMatchObject([{ state: 'failed', charged: 4 }]);
    const [first = 0, ...later] = stage.posts.map(({ at }) => at);
    // 0.9 × 5 s is 4.5 s, and queues delay by whole seconds; the third wait is the sweeper's
    expect(later.map(at => (at - first) / 1_000)).toEqual([5, 5 + 270, 5 + 270 + 1_620]);
    expect(new Set(stage.posts.map(post => post.id))).toEqual(new Set([id]));
    expect(stage.logged('delivery.overdue')).toBe(0);
  });

  it('goes to what is registered when its attempt is due', async () => {
    stage.answers.push(answer(500));
    stage.publish(event);
    await stage.pass(1);
    await stage.register({ url: 'https://other.example.com/', updatedAt: 1 });
    await stage.settle();
    expect(stage.posts.at(-1)?.url).toBe('https://other.example.com/');
  });

  it('is cancelled with its webhook, and never goes to the next one', async () => {
    stage.answers.push(answer(500));
    stage.publish(event);
    await stage.pass(1);
    await stage.remove();
    await stage.register({ webhookId: 'webhook-2' });
    await stage.settle();
    expect(stage.posts).toHaveLength(1);
    expect(stage.deliveries()).toMatchObject([{ state: 'cancelled', webhookId: 'webhook-1' }]);
  });

  it('is held when its receiver answers 410, as is everything after it', async () => {
    stage.answers.push(answer(500), answer(410));
    stage.publish({ ...event, id: 'one' });
    stage.publish({ ...event, id: 'two' });
    await stage.pass(1);
    stage.publish({ ...event, id: 'three' });
    await stage.settle();
    expect(stage.deliveries().map(({ state }) => state)).toEqual(['held', 'held', 'held']);
    expect(stage.posts).toHaveLength(2);
    expect(stage.logged('webhook.suspended')).toBe(1);
  });
});

describe('a message of the retry queue', () => {
  it('that was delivered twice is dropped the second time', async () => {
    stage.answers.push(answer(500), answer(500));
    stage.publish(event);
    await stage.pass(1);
    const [message] = stage.waiting('retries');
    stage.send('retries', message?.body ?? '');
    await stage.settle();
    expect(stage.posts).toHaveLength(3);
    expect(stage.logged('delivery.stale')).toBe(1);
  });

  it('that nobody of us wrote goes to the dead-letter queue', async () => {
    stage.send('retries', '{"id":1}');
    await stage.pass(1);
    expect(stage.deadLetters()).toMatchObject([{ body: '{"id":1}', reason: 'malformed' }]);
  });
});
