import { expect, it } from 'vitest';
import { originOf } from '../../../../lambdas/delivery/intake/origin.ts';

it.each([undefined, '', 'soon'])('a message whose time is %j has none', sentTimestamp => {
  const { sentAt } = originOf({ messageId: 'm', sentTimestamp, attribute: () => undefined });
  expect(sentAt).toBeUndefined();
});
