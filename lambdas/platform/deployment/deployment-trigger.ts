import { setTimeout as pause } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { systemClock } from '../clock.ts';
import { patientCalls, type Waiting, withPatience } from './patience.ts';
import { makeEndRelease, type ReleaseEndRequest } from './release-end.ts';
import { makeStartRelease, type ReleaseStartRequest } from './release-start.ts';
import { readStack } from './stack-state.ts';

/** The request of CloudFormation about a trigger, as far as it is read. */
export interface TriggerRequest {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  readonly ResourceProperties: {
    /** The version to invoke. */
    readonly HandlerArn: string;
    readonly Stage: string;
    /** The answer of the release's start. */
    readonly IsRolledBack: 'true' | 'false';
  };
}

export interface TriggerEffects extends Waiting {
  readonly readStackStatus: (stackId: string) => Promise<string>;
  /** Invokes a version and waits for its end. Throws where it fails. */
  readonly invoke: (version: string) => Promise<void>;
}

/**
 * Makes what CloudFormation calls for a deployment trigger. When it throws, the deployment fails and is undone: CloudFormation then leads
 * what moved to the versions of the deployment before, also to those that were taken back. After a roll-back it says what to type.
 *
 * While the stack rolls back it invokes nothing: a roll-back updates the trigger to the version before, and where that one cannot be
 * invoked either, the stack would be stuck.
 */
export function makeDeploymentTrigger({ readStackStatus, invoke, ...waiting }: TriggerEffects) {
  return async function runTrigger({ RequestType, StackId, ResourceProperties }: TriggerRequest): Promise<void> {
    if (RequestType === 'Delete') return;
    const { HandlerArn, Stage, IsRolledBack } = ResourceProperties;
    try {
      await withPatience(waiting, async () => {
        if ((await readStackStatus(StackId)).includes('ROLLBACK')) return;
        await invoke(HandlerArn);
      });
    } catch (error) {
      if (IsRolledBack !== 'true') throw error;
      const message = error instanceof Error ? error.message : String(error);
      // CloudFormation shows the stack of an error, which has the message that it was made with.
      throw new Error(`${message} – after a roll-back: type "npm run ops -- --stage ${Stage} rollback" now`);
    }
  };
}

async function invokeVersion(version: string): Promise<void> {
  const requestHandler = { ...patientCalls.requestHandler, requestTimeout: 120_000 };
  const lambda = new LambdaClient({ ...patientCalls, requestHandler });
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

const readStackStatus = async (stackId: string) => (await readStack(stackId)).status;
const waiting = { pause, now: systemClock };
const lambda = new LambdaClient({ requestHandler: patientCalls.requestHandler });
const runTrigger = makeDeploymentTrigger({ readStackStatus, invoke: invokeVersion, ...waiting });
const startRelease = makeStartRelease({ readStackStatus, lambda, ...waiting });
const endRelease = makeEndRelease({ readStack, lambda, warn: console.warn, ...waiting });

type Request =
  | ({ readonly ResourceType: 'Custom::Trigger' } & TriggerRequest)
  | ({ readonly ResourceType: 'Custom::ReleaseStart' } & ReleaseStartRequest)
  | ({ readonly ResourceType: 'Custom::ReleaseEnd' } & ReleaseEndRequest);

/** CloudFormation calls it through the CDK's own entry, which answers with what it returns or throws. */
export async function handler(request: Request): Promise<object | undefined> {
  if (request.ResourceType === 'Custom::ReleaseStart') return startRelease(request);
  if (request.ResourceType === 'Custom::ReleaseEnd') return endRelease(request);
  await runTrigger(request);
  return undefined;
}
