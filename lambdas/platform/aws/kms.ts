import { KMSClient } from '@aws-sdk/client-kms';
import { clientSettings } from './client-settings.ts';

/** Creates the client that unwraps and generates the keys of the keyring. */
export function makeKms(): KMSClient {
  return new KMSClient(clientSettings('kms'));
}
