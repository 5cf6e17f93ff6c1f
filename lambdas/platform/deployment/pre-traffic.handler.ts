import * as z from 'zod/mini';
import { list, readEnvironment, text } from '../environment.ts';
import { makeHandler, selfCheckEvent } from '../lambda-handler.ts';
import { systemRuntime } from '../runtime.ts';
import { makeTelemetry } from '../telemetry.ts';
import { type HookEvent, makePreTrafficHook } from './pre-traffic-hook.ts';

// Dynamic imports use the SDK's own signer and request handler, because `request-signer.ts` cannot sign the request paths of Lambda.
const { CodeDeployClient, GetDeploymentCommand, PutLifecycleEventHookExecutionStatusCommand } = await import(
  '@aws-sdk/client-codedeploy'
);
const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');

const { versions, stackId } = readEnvironment(z.object({ VERSIONS: list, STACK_ID: text }));
const telemetry = makeTelemetry('pre-traffic');
const quick = { requestHandler: { requestTimeout: 10_000, throwOnRequestTimeout: true } };
const codeDeploy = new CodeDeployClient(quick);
const cloudFormation = new CloudFormationClient(quick);
const lambda = new LambdaClient({
  maxAttempts: 1,
  requestHandler: { requestTimeout: 60_000, throwOnRequestTimeout: true },
});

/** The hook that CodeDeploy invokes before a new function version receives traffic. */
export const handler = makeHandler<HookEvent, void>(
  telemetry,
  makePreTrafficHook({
    ...systemRuntime.time,
    log: telemetry.log,
    versions: Object.fromEntries(versions.map(pair => pair.split('='))),
    getDeployment: async deploymentId => {
      const { deploymentInfo } = await codeDeploy.send(new GetDeploymentCommand({ deploymentId }));
      return deploymentInfo ?? {};
    },
    getStackStatus: async () => {
      const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackId }));
      return Stacks?.[0]?.StackStatus ?? '';
    },
    checkVersion: async version => {
      const Payload = JSON.stringify(selfCheckEvent);
      const { FunctionError, Payload: result } = await lambda.send(
        new InvokeCommand({ FunctionName: version, Payload }),
      );
      if (FunctionError === undefined) return;
      const { errorType = FunctionError } = JSON.parse(new TextDecoder().decode(result)) as { errorType?: string };
      throw Object.assign(new Error('The self-check of the version failed.'), { name: errorType });
    },
    report: ({ DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId }, status) =>
      codeDeploy.send(
        new PutLifecycleEventHookExecutionStatusCommand({ deploymentId, lifecycleEventHookExecutionId, status }),
      ),
  }),
);
