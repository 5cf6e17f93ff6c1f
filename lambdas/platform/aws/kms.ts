import { KMSClient } from '@aws-sdk/client-kms';
import { clientSettings } from './client-settings.ts';

/** Makes the client that opens and makes the keys of the keyring. */
export function makeKms(): KMSClient {
  return new KMSClient(clientSettings('kms'));
}
