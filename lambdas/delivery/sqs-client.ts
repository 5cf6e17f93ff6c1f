import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../platform/client-settings.ts';

/** The queues' client. */
export function makeSqs(): SQSClient {
  return new SQSClient(clientSettings);
}
