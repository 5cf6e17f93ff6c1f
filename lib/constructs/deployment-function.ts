import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Aws,
  type CfnResource,
  CustomResourceProvider,
  CustomResourceProviderRuntime,
  Duration,
  type Stack,
} from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';
import { bundleScript } from './bundle.ts';

/** Returns the function that CloudFormation calls for all triggers of a stack, and to begin and end its releases. */
export function triggerProvider(stack: Stack, configuration: StageConfiguration): CustomResourceProvider {
  return providerOf(stack, configuration, {
    id: 'AWSDeploymentTrigger',
    entry: 'lambdas/platform/deployment/deployment-trigger.ts',
    logs: 'TriggerLogs',
    task: 'tries new versions, and deletes old ones',
    statements: [mayReadStack],
  });
}

/** Returns the function that CloudFormation calls for the throttles of a stack's routes. They are of one API. */
export function throttleProvider(
  stack: Stack,
  configuration: StageConfiguration,
  { apiId }: HttpApi,
): CustomResourceProvider {
  // The API has one stage. AWS does not document how it writes that name and the keys of routes in an ARN.
  const Resource = `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}::/apis/${apiId}/stages/*`;
  return providerOf(stack, configuration, {
    id: 'RouteThrottle',
    entry: 'lambdas/platform/deployment/route-throttle.ts',
    logs: 'RouteThrottleLogs',
    task: 'sets the throttles of routes',
    statements: [{ Effect: 'Allow', Action: ['apigateway:PATCH', 'apigateway:DELETE'], Resource }, mayReadStack],
  });
}

const mayReadStack = { Effect: 'Allow', Action: ['cloudformation:DescribeStacks'], Resource: [Aws.STACK_ID] };

interface DeploymentFunction {
  readonly id: string;
  readonly entry: string;
  /** The id of its log group. */
  readonly logs: string;
  readonly task: string;
  readonly statements: readonly object[];
}

function providerOf(
  stack: Stack,
  configuration: StageConfiguration,
  { id, entry, logs, task, statements }: DeploymentFunction,
): CustomResourceProvider {
  const known = stack.node.tryFindChild(`${id}CustomResourceProvider`);
  if (known instanceof CustomResourceProvider) return known;
  const codeDirectory = mkdtempSync(join(tmpdir(), 'emissor-deployment-'));
  try {
    const code = stack.bundlingRequired ? codeOf(stack.node.root, entry) : ''; // `cdk list` needs none
    writeFileSync(join(codeDirectory, 'index.js'), code);
    const provider = CustomResourceProvider.getOrCreateProvider(stack, id, {
      codeDirectory,
      runtime: CustomResourceProviderRuntime.NODEJS_24_X,
      timeout: Duration.minutes(10),
      description: `Emissor ${configuration.stage}: ${task}`,
    });
    for (const statement of statements) provider.addToRolePolicy(statement);
    keepLogs(stack, provider, configuration, logs);
    return provider;
  } finally {
    rmSync(codeDirectory, { recursive: true }); // the CDK has copied it, beside an entry of its own that answers CloudFormation
  }
}

/** Returns the code of such a function, which is the same in all stacks of an app. */
function codeOf(app: IConstruct, entry: string): string {
  const codes = bundled.get(app) ?? new Map<string, string>();
  bundled.set(app, codes);
  const code = codes.get(entry) ?? bundleScript(entry);
  codes.set(entry, code);
  return code;
}

/** Kept as long as its app is. */
const bundled = new WeakMap<IConstruct, Map<string, string>>();

/**
 * The function would write to a log group that Lambda makes, which nobody deletes and whose lines never expire. It gets one of the
 * stack, and may write to that only.
 */
function keepLogs(stack: Stack, provider: CustomResourceProvider, configuration: StageConfiguration, id: string): void {
  const { logRetention: retention, removalPolicy } = retentionOf(configuration);
  const logGroup = new LogGroup(stack, id, { retention, removalPolicy });
  const part = (id: string) => provider.node.findChild(id) as CfnResource;
  part('Handler').addPropertyOverride('LoggingConfig', { LogGroup: logGroup.logGroupName });
  part('Role').addPropertyDeletionOverride('ManagedPolicyArns');
  provider.addToRolePolicy({
    Effect: 'Allow',
    Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    Resource: logGroup.logGroupArn,
  });
}
