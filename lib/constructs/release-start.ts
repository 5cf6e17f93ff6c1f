import { CustomResource, Duration, Lazy, type Stack } from 'aws-cdk-lib';
import type { StageConfiguration } from '../config.ts';
import { triggerProvider } from './deployment-function.ts';
import type { NodeFunction } from './node-function.ts';

/**
 * Starts each deployment that publishes a version of a function behind an API, or one that is tried, in the stack of that function. It
 * refuses a gradual one after a roll-back, and sets an alias that still shifts to one version
 * (`lambdas/platform/deployment/release-start.ts`).
 */
export class ReleaseStart extends CustomResource {
  readonly #guarded: NodeFunction[];
  readonly #tried: NodeFunction[];

  /** Returns the one of a stack. */
  static of(stack: Stack, configuration: StageConfiguration): ReleaseStart {
    const known = stack.node.tryFindChild(id);
    return known instanceof ReleaseStart ? known : new ReleaseStart(stack, configuration);
  }

  private constructor(stack: Stack, configuration: StageConfiguration) {
    const guarded: NodeFunction[] = [];
    const tried: NodeFunction[] = [];
    const list = (functions: readonly NodeFunction[], arnOf: (target: NodeFunction) => string) =>
      Lazy.list({ produce: () => functions.map(arnOf) });
    const provider = triggerProvider(stack, configuration);
    super(stack, id, {
      resourceType: 'Custom::ReleaseStart',
      serviceToken: provider.serviceToken,
      serviceTimeout: Duration.minutes(12), // or CloudFormation waits an hour for a function that does not answer
      properties: {
        Stage: configuration.stage,
        Gradual: configuration.gradual,
        Versions: list(guarded, versionOf),
        // Nothing reads them. CloudFormation asks again only where a property changes, and the answer must be that of each trial.
        Tried: list(tried, versionOf),
      },
    });
    this.#guarded = guarded;
    this.#tried = tried;
    provider.addToRolePolicy({
      Effect: 'Allow',
      Action: ['lambda:GetAlias', 'lambda:UpdateAlias'],
      Resource: list(guarded, ({ functionArn }) => functionArn),
    });
  }

  /** Looks at the aliases of these functions. None of the stack moves before (`release-end.ts`). */
  guard(functions: readonly NodeFunction[]): void {
    this.#guarded.push(...functions);
  }

  /** Returns the answer at the trial of a function: whether a version that was taken back is in use again if the deployment fails. */
  isRolledBackAt(tried: NodeFunction): string {
    this.#tried.push(tried);
    return this.getAttString('IsRolledBack');
  }
}

function versionOf({ currentVersion }: NodeFunction): string {
  return currentVersion.functionArn;
}

const id = 'ReleaseStart';
