import type { Interceptor } from '@emissor/cloud/testing';

/** Has an engine of queues answer at once: without this, each receive of an empty queue would wait for a second. */
export const receiveAtOnce: Interceptor = ({ operation, input }) => {
  if (operation === 'ReceiveMessage') Object.assign(input, { WaitTimeSeconds: 0 });
  return undefined;
};
