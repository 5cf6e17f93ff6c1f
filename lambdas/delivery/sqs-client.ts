import { SQSClient } from '@aws-sdk/client-sqs';

/** The queues' client. Short timeouts: a hung socket would otherwise eat a whole invocation. */
export const makeSqs = (): SQSClient =>
  new SQSClient({ maxAttempts: 3, requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000 } });
