import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kms from 'aws-cdk-lib/aws-kms';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { HttpEndpoint } from './constructs/http-endpoint.ts';
import { operationsTopic } from './constructs/operations-topic.ts';
import { retentionOf, type StageProps } from './stage-props.ts';

/** What stays when code comes and goes: the tables, the key that wraps the keyring, and the two hosts. */
export class DataStack extends Stack {
  readonly clients: dynamodb.TableV2;
  readonly users: dynamodb.TableV2;
  /** Password hashes, apart from the users: only the token function reads them. */
  readonly credentials: dynamodb.TableV2;
  readonly sessions: dynamodb.TableV2;
  readonly lockouts: dynamodb.TableV2;
  readonly webhooks: dynamodb.TableV2;
  readonly deliveries: dynamodb.TableV2;
  readonly keyring: dynamodb.TableV2;
  /** Wraps the keys in the keyring, each kind under its own encryption context. */
  readonly key: kms.Key;
  /** Alarms and suspended webhooks are announced here. */
  readonly operations: Topic;
  /** {auth_url} */
  readonly auth: HttpEndpoint;
  /** {base_url} */
  readonly base: HttpEndpoint;

  constructor(scope: Construct, id: string, props: StageProps) {
    super(scope, id, props);
    const { configuration } = props;
    const { removalPolicy } = retentionOf(configuration);

    const table = (name: string, shape: dynamodb.TablePropsV2): dynamodb.TableV2 => {
      const made = new dynamodb.TableV2(this, name, {
        billing: dynamodb.Billing.onDemand(),
        timeToLiveAttribute: 'ttl',
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
        removalPolicy,
        ...shape,
      });
      new CfnOutput(this, `${name}Table`, { value: made.tableName });
      return made;
    };
    this.clients = table('Clients', { partitionKey: text('clientId') });
    this.users = table('Users', { partitionKey: text('userId') });
    this.credentials = table('Credentials', { partitionKey: text('email') });
    this.sessions = table('Sessions', {
      partitionKey: text('userId'),
      sortKey: text('sessionId'),
      globalSecondaryIndexes: [
        {
          indexName: 'byClient',
          partitionKey: text('clientId'),
          sortKey: text('sessionId'),
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
        },
      ],
    });
    this.lockouts = table('Lockouts', { partitionKey: text('pk') });
    this.webhooks = table('Webhooks', {
      partitionKey: text('accountId'),
      sortKey: text('eventName'),
      globalSecondaryIndexes: [
        {
          indexName: 'announcements',
          partitionKey: text('announcementShard'),
          sortKey: text('announcementAt'),
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
        },
      ],
    });
    this.deliveries = table('Deliveries', {
      partitionKey: text('id'),
      globalSecondaryIndexes: [
        {
          indexName: 'due',
          partitionKey: text('dueShard'),
          sortKey: text('dueAt'),
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
        },
        {
          indexName: 'byWebhook',
          partitionKey: text('listShard'),
          sortKey: text('listKey'),
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
        },
        {
          indexName: 'undelivered',
          partitionKey: text('stateShard'),
          sortKey: text('listKey'),
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
        },
      ],
    });
    this.keyring = table('Keyring', { partitionKey: text('kind'), sortKey: number('generation') });

    this.key = new kms.Key(this, 'Key', {
      description: `Emissor ${configuration.stage}: wraps signing, MAC and sealing keys`,
      enableKeyRotation: true,
      removalPolicy,
    });

    this.operations = operationsTopic(this, 'Operations');

    const endpoint = (name: string, domainName?: string, certificateArn?: string): HttpEndpoint =>
      new HttpEndpoint(this, name, {
        configuration,
        domain: domainName && certificateArn ? { name: domainName, certificateArn } : undefined,
      });
    this.auth = endpoint('AuthEndpoint', configuration.authDomain, configuration.authCertificateArn);
    this.base = endpoint('BaseEndpoint', configuration.baseDomain, configuration.baseCertificateArn);

    new CfnOutput(this, 'AuthUrl', { value: this.auth.url });
    new CfnOutput(this, 'BaseUrl', { value: this.base.url });
    new CfnOutput(this, 'OperationsTopicArn', { value: this.operations.topicArn });
    new CfnOutput(this, 'KeyArn', { value: this.key.keyArn });
  }
}

function text(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.STRING };
}

function number(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.NUMBER };
}
