import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { KeyKind } from '../../lambdas/platform/keyring.ts';
import { number, type Permission, Table, TableAccess, type TableProps, text } from './table.ts';

export interface KeyringProps extends Omit<TableProps, 'partitionKey' | 'sortKey'> {
  /** Wraps the keys. Each kind has its own encryption context. */
  readonly key: kms.IKey;
}

/** The kinds of keys that a function may use, and its permissions. */
export interface KeyUse {
  /** The function may read only the keys of these kinds. Their secret halves stay wrapped. */
  readonly list: readonly KeyKind[];
  /** The function may also unwrap keys of these kinds. @default - none */
  readonly unwrap?: readonly KeyKind[];
}

/** The table of signing, MAC and encryption keys, whose secret halves are wrapped by a KMS key. */
export class Keyring extends Table {
  readonly key: kms.IKey;

  constructor(scope: Construct, id: string, { key, ...props }: KeyringProps) {
    super(scope, id, { ...props, partitionKey: text('kind'), sortKey: number('generation') });
    this.key = key;
  }

  /** Returns the keyring with permission to use keys of some kinds. */
  mayUse({ list, unwrap = [] }: KeyUse): TableAccess {
    const listing: Permission = {
      actions: ['dynamodb:Query'],
      resourceArns: [this.tableArn],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': list } },
    };
    return new TableAccess(this, [listing, ...(unwrap.length > 0 ? [this.#keyPermission('kms:Decrypt', unwrap)] : [])]);
  }

  /** Returns the keyring with permission to create wrapped keys of all kinds and to delete them, but not to unwrap them. */
  mayRotate(): TableAccess {
    return new TableAccess(this, [
      ...this.may('Query', 'PutItem', 'DeleteItem').permissions,
      { actions: ['kms:DescribeKey'], resourceArns: [this.key.keyArn] },
      this.#keyPermission('kms:GenerateDataKeyPairWithoutPlaintext', ['signing']),
      this.#keyPermission('kms:GenerateDataKeyWithoutPlaintext', ['mac', 'encryption']),
    ]);
  }

  #keyPermission(action: string, kinds: readonly KeyKind[]): Permission {
    return {
      actions: [action],
      resourceArns: [this.key.keyArn],
      conditions: { StringEquals: { 'kms:EncryptionContext:purpose': kinds } },
    };
  }
}
