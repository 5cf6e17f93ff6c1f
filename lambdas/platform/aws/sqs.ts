import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from './client-settings.ts';

export function makeSqs(): SQSClient {
  return new SQSClient(clientSettings('sqs'));
}
