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
