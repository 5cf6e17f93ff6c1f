import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from './client-settings.ts';

/** Makes the client of the queues. */
export function makeSqs(): SQSClient {
  return new SQSClient(clientSettings('sqs'));
}
