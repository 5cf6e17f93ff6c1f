import { setTimeout as pause } from 'node:timers/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type Clock, systemClock } from '../clock.ts';
import { makeEndRelease, type ReleaseEndRequest } from './release-end.ts';

/** The request of CloudFormation about a trigger, as far as it is read. */
export interface TriggerRequest {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  /** The version to invoke. */
  readonly ResourceProperties: { readonly HandlerArn: string };
}

export interface TriggerEffects {
  readonly readStackStatus: (stackId: string) => Promise<string>;
  /** Invokes a version and waits for its end. Throws where it fails. */
  readonly invoke: (version: string) => Promise<void>;
  readonly pause: (milliseconds: number) => Promise<unknown>;
  readonly now: Clock;
}

/**
 * Makes what CloudFormation calls for a deployment trigger. When it throws, the deployment fails and is undone.
 *
 * While the stack rolls back it invokes nothing: a roll-back updates the trigger to the version before, and where that one cannot be
 * invoked either, the stack would be stuck. What passes by itself is repeated for some minutes: a function without a free place, a
 * permission that IAM does not know yet.
 */
export function makeDeploymentTrigger({ readStackStatus, invoke, pause, now }: TriggerEffects) {
  return async function runTrigger({ RequestType, StackId, ResourceProperties }: TriggerRequest): Promise<void> {
    if (RequestType === 'Delete') return;
    const deadline = now() + patience;
    for (;;) {
      try {
        if ((await readStackStatus(StackId)).includes('ROLLBACK')) return;
        return await invoke(ResourceProperties.HandlerArn);
      } catch (error) {
        if (!passesByItself(error) || now() >= deadline) throw error;
        await pause(interval);
      }
    }
  };
}

/** Milliseconds in which a call is repeated. With the two minutes of the last call it ends before its own function does. */
const patience = 3 * 60_000;

/** Milliseconds between two calls. */
const interval = 5_000;

/**
 * Recognises a call that AWS refused for now. A version that ran and failed fails again, unless its role was refused something: AWS
 * knows a permission some seconds after it was given.
 */
function passesByItself(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = '$metadata' in error ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode : undefined;
  return passing.includes(error.name) || status === 429 || (status !== undefined && status >= 500);
}

const passing = [
  'AccessDenied',
  'AccessDeniedException',
  'ResourceConflictException',
  'Throttling',
  'ThrottlingException',
];

async function invokeVersion(version: string): Promise<void> {
  const lambda = new LambdaClient({ maxAttempts: 1, requestHandler: { requestTimeout: 120_000 } });
  const { FunctionError, Payload } = await lambda.send(new InvokeCommand({ FunctionName: version }));
  if (FunctionError === undefined) return;
  throw errorIn(new TextDecoder().decode(Payload));
}

/** Returns the error of a function. CloudFormation shows its message beside the trigger. */
function errorIn(payload: string): Error {
  const failed = new Error('the function failed');
  try {
    const { errorType = failed.name, errorMessage = failed.message } = JSON.parse(payload) as Record<string, string>;
    return Object.assign(new Error(errorMessage), { name: errorType });
  } catch {
    return failed;
  }
}

async function readStackStatus(stackId: string): Promise<string> {
  const cloudFormation = new CloudFormationClient({ maxAttempts: 1 });
  const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackId }));
  return Stacks[0]?.StackStatus ?? '';
}

const runTrigger = makeDeploymentTrigger({ readStackStatus, invoke: invokeVersion, pause, now: systemClock });
const endRelease = makeEndRelease({ readStackStatus, lambda: new LambdaClient(), warn: console.warn });

/** CloudFormation calls it through the CDK's own entry, which answers with what it returns or throws. */
export async function handler(request: TriggerRequest | ReleaseEndRequest): Promise<object | undefined> {
  if (!isTrigger(request)) return endRelease(request);
  await runTrigger(request);
  return undefined;
}

function isTrigger(request: TriggerRequest | ReleaseEndRequest): request is TriggerRequest {
  return 'HandlerArn' in request.ResourceProperties;
}
