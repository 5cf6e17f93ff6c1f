import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';

export interface SecretParameterProps {
  /** The name of the parameter, with a leading slash. */
  readonly parameterName: string;
  /** The KMS key that encrypts the value. */
  readonly key: kms.IKey;
}

/**
 * A SecureString parameter of Parameter Store. CloudFormation cannot create one, so the operators' command line creates it and the stack
 * only refers to its name. A customer managed key controls who can read the value. The AWS managed key (`aws/ssm`) decrypts values for
 * everyone in the account who may read parameters
 * (https://docs.aws.amazon.com/systems-manager/latest/userguide/ps-restrict-decryption.html).
 */
export class SecretParameter extends Construct {
  readonly parameterName: string;
  readonly parameterArn: string;
  readonly #key: kms.IKey;

  constructor(scope: Construct, id: string, { parameterName, key }: SecretParameterProps) {
    super(scope, id);
    this.parameterName = parameterName;
    this.parameterArn = Stack.of(this).formatArn({
      service: 'ssm',
      resource: 'parameter',
      resourceName: parameterName.slice(1),
    });
    this.#key = key;
  }

  /** Grants permission to read this parameter, and to use the key only for it. */
  grantRead(grantee: iam.IGrantable): void {
    iam.Grant.addToPrincipal({ grantee, actions: ['ssm:GetParameter'], resourceArns: [this.parameterArn] });
    iam.Grant.addToPrincipal({
      grantee,
      actions: ['kms:Decrypt'],
      resourceArns: [this.#key.keyArn],
      conditions: { StringEquals: { 'kms:EncryptionContext:PARAMETER_ARN': this.parameterArn } },
    });
  }
}
