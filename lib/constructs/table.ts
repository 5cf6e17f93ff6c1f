import type { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

export interface TableProps extends Pick<dynamodb.TablePropsV2, 'partitionKey' | 'sortKey' | 'globalSecondaryIndexes'> {
  readonly removalPolicy: RemovalPolicy;
  /** Prevents the deletion of the table. */
  readonly deletionProtection: boolean;
}

/** An action that a store performs on a table. */
export type TableAction =
  | 'BatchGetItem'
  | 'GetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'PartiQLInsert'; // `BatchExecuteStatement` with INSERT

/** An on-demand table with point-in-time recovery for the last 35 days. The attribute `ttl` contains the expiry of an item. */
export class Table extends dynamodb.TableV2 {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      billing: dynamodb.Billing.onDemand(),
      timeToLiveAttribute: 'ttl',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
  }

  /** Returns access that permits actions on the table itself, but not on its indexes. */
  allow(...actions: readonly TableAction[]): TableAccess {
    return new TableAccess(this, [
      { actions: actions.map(action => `dynamodb:${action}`), resourceArns: [this.tableArn] },
    ]);
  }
}

/**
 * A table and a function's permissions on it. `grant` grants only these permissions, whereas the CDK's own grants include the table's
 * indexes.
 */
export class TableAccess {
  readonly table: dynamodb.ITable;
  readonly permissions: readonly Permission[];

  constructor(table: dynamodb.ITable, permissions: readonly Permission[]) {
    this.table = table;
    this.permissions = permissions;
  }

  /** Returns access that also permits queries on indexes. */
  allowQuery(...indexNames: readonly string[]): TableAccess {
    const resourceArns = indexNames.map(name => `${this.table.tableArn}/index/${name}`);
    return new TableAccess(this.table, [...this.permissions, { actions: ['dynamodb:Query'], resourceArns }]);
  }

  grant(grantee: iam.IGrantable): void {
    for (const permission of this.permissions) iam.Grant.addToPrincipal({ grantee, ...permission });
  }
}

/** Permission for actions on resources. */
export type Permission = Pick<iam.GrantOnPrincipalOptions, 'actions' | 'resourceArns' | 'conditions'>;

/** Returns a key attribute of type string. */
export function text(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.STRING };
}

/** Returns a key attribute of type number. */
export function number(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.NUMBER };
}

/** Returns an index that projects only keys. Readers get the items from the table. */
export function keysOnlyIndex(
  indexName: string,
  partitionKey: string,
  sortKey: string,
): dynamodb.GlobalSecondaryIndexPropsV2 {
  return {
    indexName,
    partitionKey: text(partitionKey),
    sortKey: text(sortKey),
    projectionType: dynamodb.ProjectionType.KEYS_ONLY,
  };
}
