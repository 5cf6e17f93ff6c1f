import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';

export interface DataKeyProps {
  readonly configuration: StageConfiguration;
  /** The service that encrypts with it. */
  readonly service: keyof typeof serviceActions;
}

/**
 * A KMS key of the account's own, with which one AWS service encrypts what it stores for the stage. Its policy is that of the key
 * which AWS manages for the service: a principal of the account that may use a table or a queue may use the key through that
 * service only. Functions and publishers need no further permission.
 *
 * Tables and queues are in two stacks and have a key each: an export of one key would have to stay when a stage drops it.
 */
export class DataKey extends kms.Key {
  constructor(scope: Construct, id: string, { configuration, service }: DataKeyProps) {
    super(scope, id, {
      description: `Emissor ${configuration.stage}: encrypts ${serviceActions[service].data}`,
      enableKeyRotation: true,
      removalPolicy: retentionOf(configuration).removalPolicy,
    });
    const { account, region } = Stack.of(this);
    this.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.AnyPrincipal()],
        actions: serviceActions[service].actions.map(action => `kms:${action}`),
        resources: ['*'], // in a key's policy: this key
        conditions: {
          StringEquals: { 'kms:CallerAccount': account, 'kms:ViaService': `${service}.${region}.amazonaws.com` },
        },
      }),
    );
  }
}

/**
 * The actions that a service performs with its key in the name of its caller:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html,
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
 */
const serviceActions = {
  dynamodb: {
    data: 'tables',
    actions: [
      'Encrypt',
      'Decrypt',
      'ReEncryptFrom',
      'ReEncryptTo',
      'GenerateDataKey',
      'GenerateDataKeyWithoutPlaintext',
      'CreateGrant',
      'DescribeKey',
    ],
  },
  sqs: { data: 'queues', actions: ['GenerateDataKey', 'Decrypt'] },
} as const;
