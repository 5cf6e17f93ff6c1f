import { setTimeout as pause } from 'node:timers/promises';
import { ApiGatewayV2Client, DeleteRouteSettingsCommand, UpdateStageCommand } from '@aws-sdk/client-apigatewayv2';
import { systemClock } from '../clock.ts';
import { patientCalls, type Waiting, withPatience } from './patience.ts';
import { readStack, type StackState } from './stack-state.ts';

/** The request of CloudFormation about the throttle of a route, as far as it is read. */
export interface RouteThrottleRequest {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  /** That of the answer at its creation; CloudFormation's own where it did not wait for that answer. */
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: {
    readonly ApiId: string;
    readonly RouteKey: string;
    /** CloudFormation makes texts of all values. */
    readonly RateLimit: string;
    readonly BurstLimit: string;
  };
}

export interface RouteThrottleEffects extends Waiting {
  readonly gateway: Pick<ApiGatewayV2Client, 'send'>;
  readonly readStack: (stackId: string) => Promise<StackState>;
  /** Tells why settings may have stayed that were to be taken back. */
  readonly warn: (error: unknown) => void;
}

/**
 * Makes what sets the throttle of a route, and takes it back. API Gateway answers 409 while a change of the same API is under way, such
 * as the deployment that the stage starts by itself for each route: that passes.
 *
 * CloudFormation does not wait for what it makes where another resource has failed: it has it deleted meanwhile. So nothing is made in a
 * stack that rolls back: settings that outlive their route block each further update of the API's stage.
 */
export function makeSetThrottle({ gateway, readStack, warn, ...waiting }: RouteThrottleEffects) {
  return async function setThrottle(request: RouteThrottleRequest): Promise<{ readonly PhysicalResourceId?: string }> {
    const { RequestType, StackId, PhysicalResourceId, ResourceProperties } = request;
    const { ApiId, RouteKey, RateLimit, BurstLimit } = ResourceProperties;
    if (RequestType === 'Delete') {
      const [, apiId = ApiId, routeKey = RouteKey] = /^(\S+) (.+)$/.exec(PhysicalResourceId ?? '') ?? [];
      await withPatience(waiting, () => remove(apiId, routeKey));
      return {};
    }
    const settings = { ThrottlingRateLimit: Number(RateLimit), ThrottlingBurstLimit: Number(BurstLimit) };
    const RouteSettings = { [RouteKey]: settings }; // merged: the settings of other routes stay
    try {
      await withPatience(waiting, async () => {
        if (RequestType === 'Create' && /ROLLBACK|DELETE/.test((await readStack(StackId)).status)) return;
        await gateway.send(new UpdateStageCommand({ ApiId, StageName, RouteSettings }));
      });
    } catch (error) {
      // The settings may be there, and the CDK's entry lets no Delete of this Create get here.
      if (RequestType === 'Create') await withPatience(waiting, () => remove(ApiId, RouteKey), 45_000).catch(warn);
      throw error;
    }
    return { PhysicalResourceId: `${ApiId} ${RouteKey}` };
  };

  async function remove(ApiId: string, RouteKey: string): Promise<void> {
    try {
      await gateway.send(new DeleteRouteSettingsCommand({ ApiId, StageName, RouteKey }));
    } catch (error) {
      if (!(error instanceof Error && error.name === 'NotFoundException')) throw error;
    }
  }
}

const StageName = '$default';

const gateway = new ApiGatewayV2Client(patientCalls);

/** CloudFormation calls it through the CDK's own entry, which answers with what it returns or throws. */
export const handler = makeSetThrottle({ gateway, readStack, warn: console.warn, pause, now: systemClock });
