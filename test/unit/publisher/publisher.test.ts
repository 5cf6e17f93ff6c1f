import { setTimeout as pause } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type BusinessEvent,
  createPublisher,
  InterruptedPublishError,
  type PublisherOptions,
  RefusedEventError,
  SendError,
  webhookIdOf,
} from '../../../packages/publisher/src/index.ts';
import { type FakeQueue, type QueueBehaviour, startFakeQueue } from '../../support/fake-queue.ts';

let queue: FakeQueue | undefined;
afterEach(() => queue?.stop());

/** Returns a publisher to a queue that behaves so. */
async function publisherTo(behaviour: QueueBehaviour = {}, options: Partial<PublisherOptions> = {}) {
  const started = await startFakeQueue(behaviour);
  queue = started;
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new SQSClient({
    region: 'us-east-1',
    endpoint: new URL(started.url).origin,
    credentials,
    maxAttempts: 2,
  });
  return { queue: started, ...createPublisher({ queueUrl: started.url, client, ...options }) };
}

const event = (id_demanda: number, id_conta = 'acme'): BusinessEvent => ({
  id_conta,
  event: 'demanda.criada',
  id_demanda,
  id: `demand-${id_demanda}`,
});
const events = (count: number) =>
  Array.from({ length: count }, (_, position) => event(position + 1, `conta-${position % 3}`));
const demandOf = (body: string): number => JSON.parse(body).id_demanda;
const throttled = { code: 'ThrottlingException', senderFault: false };
const uuid = /^[0-9a-f-]{36}$/;

describe('one event', () => {
  it('is sent in the group of its account, and its ids are told', async () => {
    const { publish, queue } = await publisherTo();
    const sent = await publish(event(7));
    expect(queue.requests).toEqual([
      [
        {
          body: JSON.stringify({ event: 'demanda.criada', id_conta: 'acme', id: 'demand-7', id_demanda: 7 }),
          group: 'acme',
        },
      ],
    ]);
    const webhookId = webhookIdOf('acme', 'demanda.criada', 'demand-7');
    expect(sent).toEqual({ index: 0, id: 'demand-7', webhookId, messageId: expect.stringMatching(uuid) });
  });

  it('gets an id where it has none, the same each time it is sent', async () => {
    const { publish, queue } = await publisherTo({ judge: (_, time) => (time < 2 ? throttled : 'taken') });
    const { id, webhookId } = await publish({ id_conta: 'acme', event: 'demanda.criada', id_demanda: 7 });
    expect(id).toMatch(uuid);
    expect(webhookId).toBe(webhookIdOf('acme', 'demanda.criada', id));
    const bodies = queue.requests.flat().map(({ body }) => body);
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
  });

  it('that is not valid is not sent, and the error says what is wrong', async () => {
    const { publish, queue } = await publisherTo();
    const wrong = { ...event(0, 'acme inc'), ID: 'x' };
    const error = await publish(wrong).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(RefusedEventError);
    expect((error as RefusedEventError).findings.map(({ field }) => field)).toEqual(['id_conta', 'id_demanda', 'ID']);
    expect((error as Error).message).toBe(
      'The event was not sent: id_conta: must be a string of 1 to 64 letters, digits, _ or -, and not _smoke; id_demanda: must be a whole number from 1 to 2^53 - 1; ID: is no field of this event.',
    );
    expect(queue.requests).toEqual([]);
  });

  const answering = (status: number, code: string): QueueBehaviour => ({ receive: () => ({ status, code }) });
  const refusing = (code: string, senderFault: boolean): QueueBehaviour => ({ judge: () => ({ code, senderFault }) });

  it.each<[what: string, QueueBehaviour, requests: number, code: string, retryable: boolean]>([
    ['is refused for the moment each time', refusing('ThrottlingException', false), 3, 'ThrottlingException', true],
    ['is throttled, which SQS calls its fault', refusing('RequestThrottled', true), 3, 'RequestThrottled', true],
    ['is refused for its own sake', refusing('InvalidMessageContents', true), 1, 'InvalidMessageContents', false],
    ['is not answered for', { judge: () => 'silent' }, 3, 'Unanswered', true],
    ['may not be sent', answering(403, 'AccessDenied'), 1, 'AccessDenied', false],
    ['goes to no queue', answering(400, 'QueueDoesNotExist'), 1, 'QueueDoesNotExist', false],
    // The client itself tries these twice.
    ['meets a fault of SQS', answering(500, 'InternalFailure'), 2, 'InternalFailure', true],
    ['meets a throttled SQS', answering(400, 'RequestThrottled'), 2, 'RequestThrottled', true],
  ])('that %s fails, and the error tells whether to try again', async (_what, behaviour, requests, code, retryable) => {
    const { publish, queue } = await publisherTo(behaviour, { attempts: 3 });
    const error = await publish({ ...event(7), id: 'canary-7f3a' }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(SendError);
    expect((error as SendError).event).toMatchObject({ code, retryable, id: 'canary-7f3a', index: 0 });
    expect(queue.requests).toHaveLength(requests);
    expect(String((error as Error).stack)).not.toContain('canary-7f3a');
  });

  it('that fails keeps what the client threw', async () => {
    const { publish, publishAll } = await publisherTo({ receive: () => ({ status: 403, code: 'AccessDenied' }) });
    const refusal = expect.objectContaining({ name: 'AccessDenied', $metadata: expect.anything() });
    expect(((await publish(event(7)).catch((error: unknown) => error)) as Error).cause).toEqual(refusal);
    const { failed } = await publishAll(events(1));
    expect(failed[0]?.cause).toEqual(refusal);
    expect(Object.keys(failed[0] ?? {})).not.toContain('cause'); // its text may repeat what was sent
  });

  it('to nobody who listens fails, and may be tried again', async () => {
    const { publish, queue } = await publisherTo();
    await queue.stop();
    await expect(publish(event(7))).rejects.toMatchObject({ event: { code: 'ECONNREFUSED', retryable: true } });
  });

  it('is given up when the signal is aborted', async () => {
    const { publish } = await publisherTo({ receive: () => 'unanswered' });
    const signal = AbortSignal.timeout(50);
    await expect(publish(event(7), { signal })).rejects.toMatchObject({
      name: 'SendError',
      event: { code: 'Aborted', retryable: true },
      cause: expect.objectContaining({ name: 'TimeoutError' }),
    });
  });
});

describe('many events', () => {
  it.each([0, 1, 10, 11, 95])('%i of them are sent ten a request, and told in their order', async count => {
    const { publishAll, queue } = await publisherTo();
    const { sent, refused, failed } = await publishAll(events(count));
    expect(sent.map(({ index }) => index)).toEqual(events(count).map((_, index) => index));
    expect([refused, failed]).toEqual([[], []]);
    expect(queue.requests).toHaveLength(Math.ceil(count / 10));
    const groups = queue.requests.flat().map(({ body, group }) => [demandOf(body), group] as const);
    expect(groups.toSorted(([one], [other]) => one - other)).toEqual(
      events(count).map(({ id_demanda, id_conta }) => [id_demanda, id_conta]),
    );
  });

  it('are sent by few requests at once', async () => {
    const release = Promise.withResolvers<string>();
    const { publishAll, queue } = await publisherTo({ forward: () => release.promise }, { concurrency: 3 });
    const publishing = publishAll(events(100));
    await vi.waitFor(() => expect(queue.mostAtOnce).toBe(3), 10_000);
    release.resolve('message');
    await publishing;
    expect(queue.mostAtOnce).toBe(3);
  });

  it('may come slowly, and no more are taken than can be sent', async () => {
    let taken = 0;
    async function* slowly() {
      for (const one of events(200)) {
        taken += 1;
        yield one;
      }
    }
    const release = Promise.withResolvers<string>();
    const { publishAll } = await publisherTo({ forward: () => release.promise }, { concurrency: 2 });
    const publishing = publishAll(slowly());
    await vi.waitFor(() => expect(taken).toBe(30), 10_000); // two requests, and what waits for the third
    await pause(50);
    expect(taken).toBe(30);
    release.resolve('message');
    expect((await publishing).sent).toHaveLength(200);
  });

  it('are each judged for themselves', async () => {
    const { publishAll } = await publisherTo(
      {
        judge: ({ body }, time) => {
          if (demandOf(body) === 3) return { code: 'InvalidMessageContents', senderFault: true };
          if (demandOf(body) === 4) return throttled;
          return demandOf(body) === 5 && time === 0 ? throttled : 'taken';
        },
      },
      { attempts: 2 },
    );
    const given = events(12).map((one, index) => (index === 1 ? { ...one, id_demanda: 0 } : one));
    const { sent, refused, failed } = await publishAll(given);
    expect(sent.map(({ index }) => index)).toEqual([0, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(refused).toEqual([
      { index: 1, findings: [{ field: 'id_demanda', reason: 'must be a whole number from 1 to 2^53 - 1' }] },
    ]);
    expect(failed).toMatchObject([
      { index: 2, id: 'demand-3', code: 'InvalidMessageContents', retryable: false },
      { index: 3, id: 'demand-4', code: 'ThrottlingException', retryable: true },
    ]);
  });

  it('are not sent again with those that were refused', async () => {
    const { publishAll, queue } = await publisherTo({
      judge: ({ body }, time) => (demandOf(body) === 5 && time === 0 ? throttled : 'taken'),
    });
    expect((await publishAll(events(10))).sent).toHaveLength(10);
    expect(queue.requests.map(request => request.map(({ body }) => demandOf(body)))).toEqual([
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      [5],
    ]);
  });

  it('are told of when their source throws', async () => {
    async function* broken() {
      yield* events(13);
      throw new Error('no more');
    }
    const { publishAll } = await publisherTo();
    const error = await publishAll(broken()).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InterruptedPublishError);
    expect((error as InterruptedPublishError).cause).toEqual(new Error('no more'));
    expect((error as InterruptedPublishError).outcome.sent).toHaveLength(13);
  });

  it('are told of when the signal is aborted, also while their source makes wait', async () => {
    let closed = false;
    async function* stuck() {
      try {
        yield* events(22);
        await new Promise(() => {});
      } finally {
        closed = true;
      }
    }
    const receive = (time: number) => (time === 0 ? 'judged' : 'unanswered');
    const { publishAll, queue } = await publisherTo({ receive }, { concurrency: 1 });
    const controller = new AbortController();
    const publishing = publishAll(stuck(), { signal: controller.signal }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(queue.requests).toHaveLength(2), 10_000);
    controller.abort();
    const error = await publishing;
    expect(error).toMatchObject({ name: 'InterruptedPublishError', cause: controller.signal.reason });
    const { sent, failed } = (error as InterruptedPublishError).outcome;
    expect(sent.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(failed.slice(0, 10)).toMatchObject(Array(10).fill({ code: 'Aborted', retryable: true }));
    expect(closed).toBe(false); // a generator cannot be closed while it waits
  });

  it('are no longer taken from a source once the signal is aborted, and the source is closed', async () => {
    const controller = new AbortController();
    let closed = false;
    function* endless() {
      try {
        for (let number = 1; ; number += 1) yield event(number);
      } finally {
        closed = true;
      }
    }
    const { publishAll } = await publisherTo({
      receive: time => {
        if (time === 20) controller.abort();
        return 'judged';
      },
    });
    await expect(publishAll(endless(), { signal: controller.signal })).rejects.toThrow(InterruptedPublishError);
    expect(closed).toBe(true);
  });
});

describe('what is no list of events', () => {
  it.each([event(7), JSON.stringify([event(7)]), null, undefined, 7])('such as %j is not published', async given => {
    const { publishAll, queue } = await publisherTo();
    await expect(publishAll(given as never)).rejects.toThrow(TypeError);
    expect(queue.requests).toEqual([]);
  });
});

describe('a publisher', () => {
  it.each([
    [{ queueUrl: '' }, 'queueUrl'],
    [{ queueUrl: undefined }, 'queueUrl'],
    [{ queueUrl: 'https://q', attempts: 0 }, 'attempts'],
    [{ queueUrl: 'https://q', concurrency: 1.5 }, 'concurrency'],
    [{ queueUrl: 'https://q', client: {} as SQSClient }, 'client'],
  ])('of %j is not made', (options, name) => {
    expect(() => createPublisher(options)).toThrow(new RegExp(`^${name} must be`));
  });
});
