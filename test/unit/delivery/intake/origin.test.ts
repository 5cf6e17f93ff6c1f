import { expect, it } from 'vitest';
import { originOf } from '../../../../lambdas/delivery/intake/origin.ts';

// A message without the time that SQS gives was one of 1970, and so older than each webhook.
it.each([undefined, '', 'soon'])('a message whose time is %j has none', sentTimestamp => {
  const { sentAt } = originOf({ messageId: 'm', sentTimestamp, attribute: () => undefined });
  expect(sentAt).toBeUndefined();
});
