import { join } from 'node:path';
import { AssetHashType, DockerImage, type Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { metricsNamespace, retentionOf } from '../stage-props.ts';
import { bundleHandler } from './bundle.ts';

/** What a function is made of. */
export interface NodeFunctionProps<Environment extends Record<string, string>> {
  readonly configuration: StageConfiguration;
  /** Path of the `*.handler.ts`, from the project's root. */
  readonly entry: string;
  /** Exactly the variables its handler reads: the type comes from the handler's side. */
  readonly environment: Environment;
  readonly timeout: Duration;
  /** CPU grows with it: 1,769 MiB are one full processor. */
  readonly memorySize: number;
  /** @default - shares what the account has left */
  readonly reservedConcurrentExecutions?: number | undefined;
  /** `ALLOW` for a function that feeds its own queue: Lambda ends a chain of some 16 invocations otherwise. */
  readonly recursiveLoop?: lambda.RecursiveLoop;
}

const root = join(import.meta.dirname, '../..');

/**
 * A Lambda function as this house has them: Node.js 24 on arm64, one ES module bundle with the SDK inside, JSON logs in
 * a log group of its own, and a role that holds nothing but writing to that log group and what `allow` adds.
 */
export class NodeFunction<Environment extends Record<string, string>> extends lambda.Function {
  readonly entry: string;
  readonly variables: Environment;

  constructor(scope: Construct, id: string, props: NodeFunctionProps<Environment>) {
    const { logRetention: retention, removalPolicy } = retentionOf(props.configuration);
    const logGroup = new logs.LogGroup(scope, `${id}Logs`, { retention, removalPolicy });
    const role = new iam.Role(scope, `${id}Role`, { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    super(scope, id, {
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: bundle(props.entry),
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      environment: {
        POWERTOOLS_LOG_LEVEL: 'INFO',
        POWERTOOLS_METRICS_NAMESPACE: metricsNamespace(props.configuration),
        ...props.environment,
      },
      timeout: props.timeout,
      memorySize: props.memorySize,
      ...(props.reservedConcurrentExecutions
        ? { reservedConcurrentExecutions: props.reservedConcurrentExecutions }
        : {}),
      ...(props.recursiveLoop ? { recursiveLoop: props.recursiveLoop } : {}),
    });
    this.entry = props.entry;
    this.variables = props.environment;
  }

  /** Lets the function do exactly these actions on exactly this resource, where `conditions` hold. */
  allow(actions: readonly string[], resource: string, conditions?: Record<string, Record<string, unknown>>): void {
    this.addToRolePolicy(
      new iam.PolicyStatement({ actions: [...actions], resources: [resource], ...(conditions ? { conditions } : {}) }),
    );
  }
}

/** Bundles in this process: the CDK's own function construct starts a package manager once per function. */
function bundle(entry: string): lambda.Code {
  return lambda.Code.fromAsset(join(root, 'lambdas'), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('none'), // demanded by the type; the local bundling below never fails over to it
      command: [entry], // tells the entries apart in the CDK's cache of bundles
      local: {
        tryBundle: directory => {
          bundleHandler(entry, join(directory, 'index.mjs'));
          return true;
        },
      },
    },
  });
}
