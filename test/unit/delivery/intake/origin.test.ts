import { expect, it } from 'vitest';
import { originOf } from '../../../../lambdas/delivery/intake/origin.ts';

it.each([undefined, '', 'soon'])('a message with the time %j has no time', sentTimestamp => {
  const { sentAt } = originOf({ messageId: 'm', sentTimestamp, attribute: () => undefined });
  expect(sentAt).toBeUndefined();
});
