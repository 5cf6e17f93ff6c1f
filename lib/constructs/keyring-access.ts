import type * as kms from 'aws-cdk-lib/aws-kms';
import type { KeyKind } from '../../lambdas/platform/keyring.ts';
import type { DataStack } from '../data-stack.ts';
import type { NodeFunction } from './node-function.ts';

/** Lets a function list keys of these kinds and no others. Private halves stay wrapped. */
export function allowListingKeys(
  target: NodeFunction<Record<string, string>>,
  data: Pick<DataStack, 'keyring'>,
  kinds: readonly KeyKind[],
): void {
  target.allow(['dynamodb:Query'], data.keyring.tableArn, {
    'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [...kinds] },
  });
}

/** Lets a function call KMS for keys of these kinds: each kind is wrapped under an encryption context of its own. */
export function allowKeyUse(
  target: NodeFunction<Record<string, string>>,
  key: kms.IKey,
  actions: readonly string[],
  kinds: readonly KeyKind[],
): void {
  target.allow(actions, key.keyArn, { StringEquals: { 'kms:EncryptionContext:purpose': [...kinds] } });
}
