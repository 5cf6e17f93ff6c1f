import type { KMSClient } from '@aws-sdk/client-kms';
import { isoTime } from '../clock.ts';
import { clientSettings } from './client-settings.ts';

/** Reads the state of a KMS key, as KMS names it, and when it will be deleted, if it will. */
export type ReadKeyState = (keyArn: string) => Promise<{
  readonly state: string | undefined;
  readonly deletedAt: string | undefined;
}>;

/**
 * Makes the reader of the states of keys.
 *
 * @param kms - @default - a client of its own, loaded at the first call: a process of the sweeper asks four times an hour
 */
export function makeReadKeyState(kms?: KMSClient): ReadKeyState {
  return async function readKeyState(KeyId) {
    const { DescribeKeyCommand, KMSClient } = await import('@aws-sdk/client-kms');
    kms ??= new KMSClient(clientSettings('kms'));
    const { KeyMetadata: { KeyState: state, DeletionDate: day } = {} } = await kms.send(
      new DescribeKeyCommand({ KeyId }),
    );
    return { state, deletedAt: day && isoTime(day.getTime()) };
  };
}
