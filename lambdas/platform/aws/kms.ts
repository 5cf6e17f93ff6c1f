import { KMSClient } from '@aws-sdk/client-kms';
import { clientSettings } from './client-settings.ts';

export function makeKms(): KMSClient {
  return new KMSClient(clientSettings('kms'));
}
