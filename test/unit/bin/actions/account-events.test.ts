import { expect, it } from 'vitest';
import { readEvents } from '../../../../bin/actions/account-events.ts';

it('tells how far back it looked: to the oldest line where there are more lines than are read', async () => {
  const now = Date.UTC(2026, 10, 23, 12);
  const lookedBack = async (count: number) => {
    const lines = Array.from({ length: count }, (_, at) => ({
      at: now - at,
      fields: { message: 'message.deferred', messageId: `message-${at % 100}`, seconds: 1 },
    }));
    const sources = {
      listDeliveries: async () => [],
      readDeliveries: async () => [],
      listWebhooks: async () => [],
      keptSince: async () => 0,
      findLines: async () => lines,
    };
    const query = { account: 'acme', since: now - 86_400_000, limit: 10 };
    return (await readEvents(query, sources, () => {})).logSince;
  };
  expect(await lookedBack(200)).toBe(now - 86_400_000);
  expect(await lookedBack(10_000)).toBe(now - 9_999);
});

it('tells an event that was sent before its webhook was deleted by what the attempt’s process logged', async () => {
  const at = Date.UTC(2026, 10, 23, 12);
  const fields = { messageId: 'message-1', deliveryId: 'evt_1', account: 'acme', event: 'demanda.criada' };
  const sources = {
    listDeliveries: async () => [],
    readDeliveries: async () => [],
    listWebhooks: async () => [],
    keptSince: async () => 0,
    findLines: async () => [
      { at, fields: { ...fields, message: 'event.without_webhook' } },
      { at, fields: { ...fields, messageId: 'message-2', message: 'event.without_webhook' } },
      {
        at: at - 1,
        fields: { ...fields, message: 'delivery.outcome_not_stored', attempt: 1, result: 'delivered', status: 200 },
      },
    ],
  };
  const { events } = await readEvents({ account: 'acme', since: 0, limit: 10 }, sources, () => {});
  expect(events.map(({ messageId, verdict }) => [messageId, verdict])).toEqual([
    ['message-1', 'delivered'],
    ['message-2', 'no webhook'],
  ]);
});
