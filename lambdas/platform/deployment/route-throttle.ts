import { setTimeout as pause } from 'node:timers/promises';
import { ApiGatewayV2Client, DeleteRouteSettingsCommand, UpdateStageCommand } from '@aws-sdk/client-apigatewayv2';
import { systemClock } from '../clock.ts';
import { type Waiting, withPatience } from './patience.ts';

/** The request of CloudFormation about the throttle of a route, as far as it is read. */
export interface RouteThrottleRequest {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  /** That of the answer at its creation. */
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
}

/**
 * Makes what sets the throttle of a route, and takes it back. API Gateway answers 409 while a change of the same API is under way, such
 * as the deployment that the stage starts by itself for each route: that passes.
 */
export function makeSetThrottle({ gateway, ...waiting }: RouteThrottleEffects) {
  return async function setThrottle(request: RouteThrottleRequest): Promise<{ readonly PhysicalResourceId: string }> {
    const { RequestType, PhysicalResourceId = '', ResourceProperties } = request;
    if (RequestType === 'Delete') {
      const [, ApiId, RouteKey] = /^(\S+) (.+)$/.exec(PhysicalResourceId) ?? [];
      await withPatience(waiting, () => remove(ApiId, RouteKey));
      return { PhysicalResourceId };
    }
    const { ApiId, RouteKey, RateLimit, BurstLimit } = ResourceProperties;
    const settings = { ThrottlingRateLimit: Number(RateLimit), ThrottlingBurstLimit: Number(BurstLimit) };
    const RouteSettings = { [RouteKey]: settings }; // merged: the settings of other routes stay
    await withPatience(waiting, () => gateway.send(new UpdateStageCommand({ ApiId, StageName, RouteSettings })));
    return { PhysicalResourceId: `${ApiId} ${RouteKey}` };
  };

  async function remove(ApiId: string | undefined, RouteKey: string | undefined): Promise<void> {
    try {
      await gateway.send(new DeleteRouteSettingsCommand({ ApiId, StageName, RouteKey }));
    } catch (error) {
      if (!(error instanceof Error && error.name === 'NotFoundException')) throw error;
    }
  }
}

const StageName = '$default';

/** CloudFormation calls it through the CDK's own entry, which answers with what it returns or throws. */
export const handler = makeSetThrottle({ gateway: new ApiGatewayV2Client(), pause, now: systemClock });
