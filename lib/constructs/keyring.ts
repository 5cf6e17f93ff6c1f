import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { KeyKind } from '../../lambdas/platform/keyring.ts';
import { number, Table, type TableProps, text } from './table.ts';

/** The properties of the keyring. */
export interface KeyringProps extends Omit<TableProps, 'partitionKey' | 'sortKey'> {
  /** Wraps the keys, each kind under an encryption context of its own. */
  readonly key: kms.IKey;
}

/** The table of signing, MAC and sealing keys, whose secret halves are wrapped by a KMS key. */
export class Keyring extends Table {
  readonly key: kms.IKey;

  constructor(scope: Construct, id: string, { key, ...props }: KeyringProps) {
    super(scope, id, { ...props, partitionKey: text('kind'), sortKey: number('generation') });
    this.key = key;
  }

  /** Allows listing the keys of these kinds and no others. Their secret halves stay wrapped. */
  grantList(grantee: iam.IGrantable, ...kinds: readonly KeyKind[]): iam.Grant {
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [this.tableArn],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': kinds } },
    });
  }

  /** Allows unwrapping the keys of these kinds. */
  grantUnwrap(grantee: iam.IGrantable, ...kinds: readonly KeyKind[]): iam.Grant {
    return this.#grantKeyUse(grantee, 'kms:Decrypt', kinds);
  }

  /** Allows making wrapped keys of all kinds, and deleting them. It opens none. */
  grantRotate(grantee: iam.IGrantable): void {
    this.grantActions(grantee, 'Query', 'PutItem', 'DeleteItem');
    this.#grantKeyUse(grantee, 'kms:GenerateDataKeyPairWithoutPlaintext', ['signing']);
    this.#grantKeyUse(grantee, 'kms:GenerateDataKeyWithoutPlaintext', ['mac', 'sealing']);
  }

  #grantKeyUse(grantee: iam.IGrantable, action: string, kinds: readonly KeyKind[]): iam.Grant {
    return iam.Grant.addToPrincipal({
      grantee,
      actions: [action],
      resourceArns: [this.key.keyArn],
      conditions: { StringEquals: { 'kms:EncryptionContext:purpose': kinds } },
    });
  }
}
