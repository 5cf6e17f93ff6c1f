import { describe, expect, it } from 'vitest';
import { type Delivery, type DeliveryState, isTest, settled } from '../../../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../../../lambdas/delivery/intake/event.ts';
import type { Webhook } from '../../../../lambdas/webhooks/webhook.ts';
import { noProgress } from '../../../../ops/command-line/terminal.ts';
import { type AccountSources, readEvents } from '../../../../ops/deliveries/account-events.ts';
import { readDeliveries } from '../../../../ops/deliveries/deliveries.ts';
import { type EventReference, type EventSources, findEvent } from '../../../../ops/deliveries/events.ts';
import type { LoggedLine } from '../../../../ops/stage/cloudwatch.ts';
import type { DeadLetter } from '../../../../ops/stage/queues.ts';
import { aDelivery, aRecord, aWebhook, noon } from '../../delivery/builders.ts';

const deliveryId = deliveryIdOf('conta-1', 'demanda.criada', 'pub-1');
const messageId = '87d3a375-8574-4978-998f-80aa10f241f1';
const logSince = noon - 7 * 86_400_000;

interface Data {
  readonly delivery?: Delivery;
  readonly webhook?: Webhook;
  readonly slowSince?: number;
  readonly lines?: readonly LoggedLine[];
  readonly deadLetters?: readonly Partial<DeadLetter>[];
  /** The number of dead-letter messages that another command has in flight. */
  readonly inFlight?: number;
  readonly queued?: number | 'unread';
}

const sourcesOf = ({ delivery, webhook, slowSince, lines = [], deadLetters = [], inFlight = 0, queued = 0 }: Data) => {
  const opened: string[] = [];
  const sources: EventSources = {
    readDelivery: async id => (delivery?.id === id ? delivery : undefined),
    findWebhook: async () => webhook,
    readSlowSince: async () => slowSince,
    now: () => noon,
    openLog: () => {
      opened.push('log');
      return {
        retainedSince: async () => logSince,
        find: async id => lines.filter(({ fields }) => JSON.stringify(fields).includes(id)),
      };
    },
    openQueues: () => {
      opened.push('dead letters');
      return {
        countInFlight: async () => inFlight,
        countQueued: async () => (queued === 'unread' ? undefined : queued),
        deadLetters: async function* () {
          for (const deadLetter of deadLetters) {
            yield { origin: { messageId: 'other', sentAt: noon }, body: '', ...deadLetter } as DeadLetter;
          }
        },
      };
    },
  };
  return { opened, sources };
};

const find = async (data: Data, reference: EventReference = { deliveryId }) => {
  const { opened, sources } = sourcesOf(data);
  const found = await findEvent(reference, sources, noProgress);
  return { ...found, judgement: `${found.verdict}: ${found.why}`, opened };
};

const line = (fields: object): LoggedLine => ({ at: noon, fields: { deliveryId, messageId, ...fields } });
const known = (changes: Partial<Delivery> = {}) => aDelivery({ id: deliveryId, messageId, ...changes });
const wait = { nextAttemptAt: noon + 5_000, sweepAt: noon + 60_000, overdueCount: 0 };
const attempted = { attempt: 2, attempts: [aRecord({ status: 503 })] };

const other = 'aaaaaaaa-0000-0000-0000-000000000000';

describe('an event with a delivery', () => {
  const [active, replaced] = [aWebhook(), aWebhook({ webhookId: 'w2' })];
  const suspended = aWebhook({ status: 'suspended', suspensionReason: 'operator' });
  const gone = aWebhook({ status: 'suspended', suspensionReason: 'gone' });
  const waiting = known({ wait });
  const test = known({ id: `teste_${'0'.repeat(22)}`, wait });
  const ended = (state: Exclude<DeliveryState, 'pending'>) => settled(known(attempted), state, noon);

  it.each<[string, Delivery, Webhook | undefined, RegExp]>([
    ['delivered', ended('delivered'), active, /^delivered: attempt 1 at 2026-11-20T12:00:00\.000Z: http, status 503/],
    ['pending', known({ ...attempted, wait }), active, /^pending: attempt 2 is due at .*12:00:05.*http, status 503/],
    ['pending, webhook suspended', waiting, suspended, /^pending: .*is suspended: operator \(operador\).*held/],
    ['pending, webhook deleted', waiting, undefined, /^cancelled: .*deleted/],
    ['pending, webhook registered again', waiting, replaced, /^cancelled: .*registered again/],
    ['failed', ended('failed'), active, /^failed: .*: http, status 503/],
    ['held, webhook suspended', ended('held'), suspended, /^held: .*operador.*webhooks reactivate/],
    ['held, webhook active', ended('held'), active, /^held: .*active again.*deliveries replay/],
    ['held, webhook deleted', ended('held'), undefined, /^held: .*can no longer be sent/],
    ['cancelled', ended('cancelled'), replaced, /^cancelled: .*deleted/],
    ['a cancelled test', settled(test, 'cancelled', noon), active, /^cancelled: an operator suspended/],
    ['a test, webhook suspended by an operator', test, suspended, /^pending: .*operador.*is cancelled when/],
    ['a test, webhook gone', test, gone, /^pending: attempt 1 is due at .*has been made$/],
  ])('has a verdict from its delivery and its webhook: %s', async (_state, delivery, webhook, judgement) => {
    const { id } = delivery;
    const found = await find({ delivery, ...(webhook && { webhook }) }, { deliveryId: id });
    expect(found).toMatchObject({ judgement: expect.stringMatching(judgement), deliveryId: id, messageId, opened: [] });
    expect(found.delivery?.state === 'cancelled').toBe(found.verdict === 'cancelled');
    expect(found.logSince).toBeUndefined();
  });

  it('has a reason that shows when its receiver became slow', async () => {
    const { why } = await find({ delivery: waiting, webhook: active, slowSince: noon });
    expect(why).toMatch(/Its receiver has been slow since 2026-11-20T12:00:00\.000Z, /);
  });

  it('is found in the log by its message id', async () => {
    const data = { delivery: ended('delivered'), lines: [line({ message: 'delivery.attempt' })] };
    const found = { verdict: 'delivered', deliveryId, opened: ['log'], logSince };
    expect(await find(data, { messageId })).toMatchObject(found);
  });

  it.each([
    ['rejected', { message: 'event.rejected', reason: 'malformed', detail: 'no demand' }, /^rejected: /],
    ['without a webhook', { message: 'event.without_webhook', account: 'conta-1' }, /^no webhook: /],
    ['deferred', { message: 'message.deferred', seconds: 40 }, /^pending: /],
    ['duplicate', { message: 'event.duplicate', state: 'delivered' }, /^delivered: /],
    ['reused', { message: 'event.conflicting_copy' }, new RegExp(`^rejected: .*reused the event id .* ${deliveryId}`)],
  ])('does not affect the verdict on another message with its id: %s', async (_case, fields, judgement) => {
    const delivery = settled(known({ messageId: other }), 'delivered', noon);
    const lines = [line({ message: 'delivery.attempt', state: 'delivered', messageId: other }), line(fields)];
    expect((await find({ delivery, lines }, { messageId })).judgement).toMatch(judgement);
    const delivered = { verdict: 'delivered', messageId: other };
    expect(await find({ delivery, lines }, { messageId: other })).toMatchObject(delivered);
    expect(await find({ delivery, lines })).toMatchObject(delivered);
  });

  it('is delivered if its message was rejected and then redriven', async () => {
    const rejectedLine = line({ message: 'event.rejected', reason: 'unknown_event', detail: 'no' });
    const lines = [line({ message: 'delivery.attempt', state: 'delivered' }), rejectedLine];
    expect(await find({ delivery: ended('delivered'), lines }, { messageId })).toMatchObject({ verdict: 'delivered' });
  });
});

describe('an event without a delivery', () => {
  const without = { message: 'event.without_webhook', account: 'conta-1', event: 'demanda.criada' };
  const rejectedLine = { message: 'event.rejected', reason: 'malformed', detail: 'id_demanda: must be a number' };
  const deferred = { message: 'message.deferred', seconds: 900 };
  const attemptIn = (state: string) => ({ message: 'delivery.attempt', state });
  const notStored = (result: string, status: number | null) => {
    return { message: 'delivery.outcome_not_stored', attempt: 1, result, status };
  };
  const failedAndDeleted = /^cancelled: attempt 1: http, status 500.*could not be stored.*webhook was deleted/;
  const sentAndDeleted =
    /^delivered: attempt 1: delivered \(entregue\), status 204.*not be stored.*webhook was deleted/;
  const outcomeUnknown =
    /^pending: attempt 1: timeout \(tempo_esgotado\), and .*not be stored\. It will be attempted again/;
  const malformed = /^rejected: .*rejected at .* as malformed \(id_demanda: must be a number\): run "dlq show 87d3a375/;
  const expired = 'according to the log of .*the record has expired';

  it.each<[string, readonly Record<string, unknown>[], RegExp]>([
    [
      'had no webhook',
      [without],
      /^no webhook: at 2026-11-20T12:00:00\.000Z account conta-1 had no webhook for demanda/,
    ],
    ['failed, webhook deleted', [without, deferred, notStored('http', 500)], failedAndDeleted],
    ['was delivered, webhook deleted', [without, notStored('delivered', 204)], sentAndDeleted],
    ['has an outcome that is not stored yet', [notStored('timeout', null)], outcomeUnknown],
    ['was rejected', [rejectedLine], malformed],
    ['is deferred', [{ ...deferred, at: noon - 1_800_000 }], /^pending: .*the next attempt was 900 s later$/],
    [
      'is overdue',
      [{ ...deferred, at: noon - 1_800_001 }],
      /^pending: .*It is overdue.* no dead-letter message is about it/,
    ],
    ['was shed', [{ message: 'delivery.shed', attempt: 1 }], /^pending: .*attempted again within seconds$/],
    ['failed, record expired', [attemptIn('failed')], new RegExp(`^failed: ${expired}`)],
    ['was held, record expired', [{ message: 'delivery.held' }], new RegExp(`^held: ${expired}`)],
    ['was cancelled, record expired', [{ message: 'delivery.cancelled' }], new RegExp(`^cancelled: ${expired}`)],
    ['failed and was delivered', [attemptIn('pendente'), attemptIn('delivered')], new RegExp(`^delivered: ${expired}`)],
    ['was rejected and redriven', [attemptIn('delivered'), rejectedLine], new RegExp(`^delivered: ${expired}`)],
    ['has an unknown line before a known one', [{ message: 'x' }, without], /^no webhook: .*had no webhook/],
  ])('has a verdict from the log if it %s', async (_case, logged, judgement) => {
    const lines = logged.map(({ at = noon, ...fields }) => ({ ...line(fields), at: Number(at) }));
    const expected = { judgement: expect.stringMatching(judgement), logSince, deliveryId, messageId };
    for (const reference of [{ deliveryId }, { messageId }])
      expect(await find({ lines }, reference)).toMatchObject(expected);
  });

  const body = JSON.stringify({ id_conta: 'conta-1', event: 'demanda.criada', id: 'pub-1' });
  const origin = { messageId, sentAt: noon };
  const rejected = { body, reason: 'malformed', detail: 'no demand' } as const;
  const asMalformed = /^rejected: .*rejected as malformed \(no demand\)/;
  it.each<[string, EventReference, Partial<DeadLetter>, string | undefined, RegExp]>([
    ['id', { messageId }, { origin, reason: null, detail: null }, undefined, /^rejected: .*after 1,000 receives/],
    ['id, with a body', { messageId }, { origin, ...rejected }, deliveryId, asMalformed],
    ['body', { deliveryId }, { origin, ...rejected }, deliveryId, asMalformed],
  ])('is found in the dead-letter queue by its %s', async (_how, reference, deadLetter, id, judgement) => {
    const found = await find({ deadLetters: [{}, deadLetter] }, reference);
    expect(found).toMatchObject({ judgement: expect.stringMatching(judgement), messageId, deliveryId: id });
    expect(found.opened).toEqual(['log', 'dead letters']);
  });

  it.each(['message.deferred', 'delivery.shed', 'delivery.outcome_not_stored'])(
    'is rejected if SQS moved its message after the line %s, but not if SQS moved another message with the same id',
    async message => {
      const lines = [line({ message, attempt: 1, seconds: 900 })];
      const moved = { lines, deadLetters: [{ origin, body, reason: null, detail: null }] };
      for (const reference of [{ deliveryId }, { messageId }])
        expect(await find(moved, reference)).toMatchObject({ verdict: 'rejected', messageId });
      expect(await find({ lines, deadLetters: [rejected] })).toMatchObject({ verdict: 'pending' });
    },
  );

  it.each([
    [noon - 60_000, noon - 60_000],
    [0, logSince],
  ])('is searched in the log since %i, but not before the oldest retained line', async (since, expected) => {
    const found = await findEvent({ deliveryId }, sourcesOf({}).sources, noProgress, since);
    expect(found).toMatchObject({ verdict: 'unknown', logSince: expected });
  });

  it.each<[string, Data, RegExp]>([
    ['the log', { deadLetters: [{}] }, /since 2026-11-13T12:00:00\.000Z.* less than about a minute ago$/],
    ['999 messages', { deadLetters: Array(999).fill({}) }, /no dead-letter message,/],
    ['1,000 messages', { deadLetters: Array(1_000).fill({}) }, /no dead-letter message among the first 1000 \(/],
    ['messages in flight', { inFlight: 3 }, /another command is reading about 3 dead-letter message/],
    ['the events queue', { queued: 3 }, /About 3 messages wait in the events queue, .* among them \("status"\)$/],
    ['an unread events queue', { queued: 'unread' }, / The number of messages .* could not be read$/],
  ])('is unknown if no source contains it, with the limits of the search: %s', async (_limit, data, why) => {
    expect(await find(data)).toMatchObject({ verdict: 'unknown', why: expect.stringMatching(why), logSince });
  });
});

/** Returns sources with lines in the log and deliveries in the table. */
const accountSourcesOf = (lines: readonly LoggedLine[], deliveries: readonly Delivery[] = []): AccountSources => ({
  listDeliveries: async (_account, _since, limit) => deliveries.slice(0, limit),
  readDeliveries: async () => [],
  listWebhooks: async () => [],
  retainedSince: async () => 0,
  findLines: async () => lines,
  countQueued: async () => 0,
  now: () => noon,
});

describe('the events of an account', () => {
  const list = async (lines: readonly LoggedLine[], deliveries: readonly Delivery[] = [], since = 0) =>
    readEvents({ account: 'conta-1', since, limit: 10 }, accountSourcesOf(lines, deliveries), () => {});
  const message = (messageId: string, name: string, fields: object = {}) => ({ messageId, message: name, ...fields });
  const delivered = settled(aDelivery({ id: 'evt_1', messageId: 'delivered' }), 'delivered', noon);
  const [id, result] = [{ deliveryId: 'evt_1' }, { attempt: 1, result: 'delivered', status: 200 }];

  it.each<[string, readonly Delivery[], readonly object[], readonly string[]]>([
    [
      'an event that was sent before its webhook was deleted is delivered',
      [],
      [
        message('sent', 'event.without_webhook', id),
        message('other', 'event.without_webhook'),
        message('sent', 'delivery.outcome_not_stored', { ...id, ...result }),
      ],
      ['sent delivered', 'other no webhook'],
    ],
    [
      'a message that was rejected or had no webhook is listed in addition to the delivery of another message with the same id',
      [delivered],
      [
        message('refused', 'event.rejected', id),
        message('early', 'event.without_webhook', id),
        message('copy', 'message.deferred', { ...id, seconds: 1 }),
        message('delivered', 'event.rejected', id),
      ],
      ['delivered delivered', 'refused rejected', 'early no webhook'],
    ],
  ])('each have a verdict: %s', async (_case, deliveries, fields, expected) => {
    const lines = fields.map((one, at) => ({ at: noon - at, fields: { ...one } }));
    const { events } = await list(lines, deliveries);
    expect(events.map(({ messageId, verdict }) => `${messageId} ${verdict}`)).toEqual(expected);
  });

  it.each([
    [noon - 1_800_000, /the next attempt was 900 s later$/],
    [noon - 1_800_001, /may be in the dead-letter queue: run "events find m-1"/],
  ])('have a hint at the dead-letter queue once they are overdue: deferred at %i', async (at, why) => {
    const { events } = await list([{ at, fields: message('m-1', 'message.deferred', { seconds: 900 }) }]);
    expect(events[0]?.why).toMatch(why);
  });

  it.each([
    [200, noon - 86_400_000],
    [10_000, noon - 9_999],
  ])('are complete since the oldest line that was read: %i lines', async (length, since) => {
    const fields = message('m-1', 'message.deferred', { seconds: 1 });
    const lines = Array.from({ length }, (_, at) => ({ at: noon - at, fields }));
    expect((await list(lines, [], noon - 86_400_000)).logSince).toBe(since);
  });
});

it('reads the requested number of deliveries, without tests', async () => {
  const deliveries = ['teste_1', 'evt_1', 'teste_2', 'evt_2', 'evt_3'].map((id, at) =>
    aDelivery({ id, createdAt: noon - at }),
  );
  const history = async ({ eventName }: { eventName: string }) => ({
    deliveries: eventName === 'demanda.criada' ? deliveries : [],
    next: undefined,
  });
  const query = { account: 'conta-1', since: 0, limit: 2 };
  const isEvent = (delivery: Delivery) => !isTest(delivery);
  const found = await readDeliveries(history as never, query, () => {}, isEvent);
  expect(found.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
});
