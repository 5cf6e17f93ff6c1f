import { CustomResource, Duration, Lazy, type Stack } from 'aws-cdk-lib';
import type { StageConfiguration } from '../config.ts';
import { triggerProvider } from './deployment-function.ts';
import type { NodeFunction } from './node-function.ts';

/**
 * Starts each deployment that publishes a version of a function behind an API, in the stack of that function. It refuses a gradual one
 * after a roll-back, and sets an alias that still shifts to one version (`lambdas/platform/deployment/release-start.ts`).
 */
export class ReleaseStart extends CustomResource {
  readonly #guarded: NodeFunction[];

  /** Returns the one of a stack. */
  static of(stack: Stack, configuration: StageConfiguration): ReleaseStart {
    const known = stack.node.tryFindChild(id);
    return known instanceof ReleaseStart ? known : new ReleaseStart(stack, configuration);
  }

  private constructor(stack: Stack, configuration: StageConfiguration) {
    const guarded: NodeFunction[] = [];
    const list = (arnOf: (target: NodeFunction) => string) => Lazy.list({ produce: () => guarded.map(arnOf) });
    const provider = triggerProvider(stack, configuration);
    super(stack, id, {
      resourceType: 'Custom::ReleaseStart',
      serviceToken: provider.serviceToken,
      serviceTimeout: Duration.minutes(12), // or CloudFormation waits an hour for a function that does not answer
      properties: {
        Stage: configuration.stage,
        Gradual: configuration.gradual,
        Versions: list(({ currentVersion }) => currentVersion.functionArn),
      },
    });
    this.#guarded = guarded;
    provider.addToRolePolicy({
      Effect: 'Allow',
      Action: ['lambda:GetAlias', 'lambda:UpdateAlias'],
      Resource: list(({ functionArn }) => functionArn),
    });
  }

  /** Looks at the aliases of these functions. None of the stack moves before (`release-end.ts`). */
  guard(functions: readonly NodeFunction[]): void {
    this.#guarded.push(...functions);
  }
}

const id = 'ReleaseStart';
