import { expect, it } from 'vitest';
import { originOf } from '../../../../lambdas/delivery/intake/origin.ts';

it.each([undefined, '', 'soon'])('originOf returns no time for the timestamp %j', sentTimestamp => {
  const { sentAt } = originOf({ messageId: 'm', sentTimestamp, attribute: () => undefined });
  expect(sentAt).toBeUndefined();
});
