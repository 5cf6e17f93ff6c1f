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
import * as logs from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import type { StageConfiguration } from '../config.ts';
import { retentionOf } from '../stage-props.ts';
import { bundleScript } from './bundle.ts';

/** Returns the function that CloudFormation calls for all triggers of a stack, and to delete old versions. */
export function triggerProvider(stack: Stack, configuration: StageConfiguration): CustomResourceProvider {
  const known = stack.node.tryFindChild(`${providerId}CustomResourceProvider`);
  if (known instanceof CustomResourceProvider) return known;
  const codeDirectory = mkdtempSync(join(tmpdir(), 'emissor-trigger-'));
  try {
    writeFileSync(join(codeDirectory, 'index.js'), stack.bundlingRequired ? codeFor(stack.node.root) : ''); // `cdk list` needs no code
    const provider = CustomResourceProvider.getOrCreateProvider(stack, providerId, {
      codeDirectory,
      runtime: CustomResourceProviderRuntime.NODEJS_24_X,
      timeout: Duration.minutes(10),
      description: `Emissor ${configuration.stage}: tries new versions, and deletes old ones`,
    });
    provider.addToRolePolicy({ Effect: 'Allow', Action: ['cloudformation:DescribeStacks'], Resource: [Aws.STACK_ID] });
    keepLogs(stack, provider, configuration);
    return provider;
  } finally {
    rmSync(codeDirectory, { recursive: true }); // the CDK has copied it, beside an entry of its own that answers CloudFormation
  }
}

const providerId = 'AWSDeploymentTrigger';

/** Returns the code of triggers, which is the same in all stacks of an app. */
function codeFor(app: IConstruct): string {
  const code = bundled.get(app) ?? bundleScript('lambdas/platform/deployment/deployment-trigger.ts');
  bundled.set(app, code);
  return code;
}

/** Kept as long as its app is. */
const bundled = new WeakMap<IConstruct, string>();

/**
 * The function would write to a log group that Lambda makes, which nobody deletes and whose lines never expire. It gets one of the
 * stack, and may write to that only.
 */
function keepLogs(stack: Stack, provider: CustomResourceProvider, configuration: StageConfiguration): void {
  const { logRetention: retention, removalPolicy } = retentionOf(configuration);
  const logGroup = new logs.LogGroup(stack, 'TriggerLogs', { retention, removalPolicy });
  const part = (id: string) => provider.node.findChild(id) as CfnResource;
  part('Handler').addPropertyOverride('LoggingConfig', { LogGroup: logGroup.logGroupName });
  part('Role').addPropertyDeletionOverride('ManagedPolicyArns');
  provider.addToRolePolicy({
    Effect: 'Allow',
    Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    Resource: logGroup.logGroupArn,
  });
}
