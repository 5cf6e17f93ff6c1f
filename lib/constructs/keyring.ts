import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { KeyKind } from '../../lambdas/platform/keyring.ts';
import { number, type Permission, Table, TableAccess, type TableProps, text } from './table.ts';

export interface KeyringProps extends Omit<TableProps, 'partitionKey' | 'sortKey'> {
  /** The KMS key that wraps the keys in the keyring. Each kind has its own encryption context. */
  readonly key: kms.IKey;
}

/** The permissions of a function, by kind of key. */
export interface KeyUse {
  /** The kinds of keys that the function may read. Their secret parts stay wrapped. */
  readonly list: readonly KeyKind[];
  /** The kinds of keys that the function may also unwrap. @default - none */
  readonly unwrap?: readonly KeyKind[];
}

/** The table of signing, MAC and encryption keys. A KMS key wraps their secret parts. */
export class Keyring extends Table {
  readonly key: kms.IKey;

  constructor(scope: Construct, id: string, { key, ...props }: KeyringProps) {
    super(scope, id, { ...props, partitionKey: text('kind'), sortKey: number('generation') });
    this.key = key;
  }

  /** Returns access that permits using some kinds of keys. */
  allowUse({ list, unwrap = [] }: KeyUse): TableAccess {
    const query: Permission = {
      actions: ['dynamodb:Query'],
      resourceArns: [this.tableArn],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': list } },
    };
    return new TableAccess(this, [query, ...(unwrap.length > 0 ? [this.#keyPermission('kms:Decrypt', unwrap)] : [])]);
  }

  /** Returns access that permits creating and deleting all kinds of keys, but not unwrapping them. */
  allowRotation(): TableAccess {
    return new TableAccess(this, [
      ...this.allow('Query', 'PutItem', 'DeleteItem').permissions,
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
