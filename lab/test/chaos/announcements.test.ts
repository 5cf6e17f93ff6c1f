import { expect, it } from 'vitest';
import { auditAnnouncements } from '../../chaos/announcements.ts';
import type { PublishedEvent } from '../../chaos/publisher.ts';
import type { Arrival } from '../../chaos/receivers.ts';

const published = ['gone', 'sound'].map(
  account =>
    ({ deliveryId: `evt_${account}`, registration: { account, eventName: 'demanda.criada' } }) as PublishedEvent,
);
const arrival = (account: string, status: number | undefined) =>
  ({ headers: { 'webhook-id': `evt_${account}` }, answered: () => status }) as unknown as Arrival;
const announced = (accountId: string) => ({
  Body: JSON.stringify({ type: 'webhook.suspended', reason: 'gone', accountId, event: 'demanda.criada' }),
});
const audit = (arrivals: readonly Arrival[], accounts: readonly string[], announcing: readonly string[] = []) =>
  auditAnnouncements({ published, arrivals }, { announcing: new Set(announcing) }, accounts.map(announced));

// It asked for a stored attempt: a process that died between the suspension and the record left none.
it('announcements are judged by what receivers answered', () => {
  const arrivals = [arrival('gone', 410), arrival('sound', 200), arrival('sound', undefined)];
  expect(audit(arrivals, ['gone'])).toEqual([]);
  expect(audit(arrivals, [], ['gone#demanda.criada'])).toEqual([]);
  expect(audit(arrivals, [])).toEqual(['LOST suspension of gone#demanda.criada']);
  expect(audit(arrivals, ['gone', 'sound'])).toEqual([
    'announced as webhook.suspended: sound#demanda.criada, which is healthy',
  ]);
});
