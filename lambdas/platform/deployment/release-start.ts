import { GetAliasCommand, type LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { type Waiting, withPatience } from './patience.ts';
import { functionNameIn } from './release-end.ts';
import { readRecord, rollbackState } from './rollback-record.ts';

/** The request of CloudFormation at the start of a release in a stack, as far as it is read. */
export interface ReleaseStartRequest {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  readonly ResourceProperties: {
    readonly Stage: string;
    /** CloudFormation makes texts of all values. */
    readonly Gradual: 'true' | 'false';
    /** The ARNs of the versions that the stack's aliases are about to lead to. */
    readonly Versions: readonly string[];
  };
}

/** The answer to CloudFormation: whether a version that was taken back is in use again if this deployment fails. */
interface ReleaseStartAnswer {
  readonly Data: { readonly IsRolledBack: 'true' | 'false' };
}

export interface ReleaseStartEffects extends Waiting {
  readonly readStackStatus: (stackId: string) => Promise<string>;
  readonly lambda: Pick<LambdaClient, 'send'>;
}

/**
 * Makes what begins a release in a stack, before any of its aliases moves. It refuses a gradual release of what is rolled back:
 * CodeDeploy would shift from the version that CloudFormation led to last, which is the one that was taken back. An alias that still
 * shifts between two versions is set to the one that it had before: AWS refuses a release of it, or leaves the other one its part.
 */
export function makeStartRelease({ readStackStatus, lambda, ...waiting }: ReleaseStartEffects) {
  return async function startRelease(request: ReleaseStartRequest): Promise<ReleaseStartAnswer> {
    const { RequestType, StackId, ResourceProperties } = request;
    const { Stage, Gradual, Versions } = ResourceProperties;
    if (RequestType === 'Delete') return answer(false);
    return withPatience(waiting, async () => {
      if ((await readStackStatus(StackId)).includes('ROLLBACK')) return answer(false);
      const aliases = (await Promise.all(Versions.map(readAlias))).filter(alias => alias !== undefined);
      if (Gradual === 'true' && aliases.some(({ state }) => state === 'rolled back')) throw new Error(refusal(Stage));
      await Promise.all(aliases.filter(({ isShifting }) => isShifting).map(setToOneVersion));
      return answer(aliases.some(({ state }) => state !== undefined));
    });
  };

  async function readAlias(version: string) {
    const live = { FunctionName: functionNameIn(version), Name: 'live' };
    try {
      const { FunctionVersion, RoutingConfig, Description } = await lambda.send(new GetAliasCommand(live));
      const weights = Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {});
      const state = rollbackState(Number(FunctionVersion), readRecord(Description));
      return { live, state, isShifting: weights.length > 0 };
    } catch (error) {
      if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined; // its first deployment
      throw error;
    }
  }

  async function setToOneVersion({ live }: { readonly live: { FunctionName: string; Name: string } }): Promise<void> {
    await lambda.send(new UpdateAliasCommand({ ...live, RoutingConfig: { AdditionalVersionWeights: {} } }));
  }
}

function answer(isRolledBack: boolean): ReleaseStartAnswer {
  return { Data: { IsRolledBack: isRolledBack ? 'true' : 'false' } };
}

function refusal(stage: string): string {
  return `no gradual deployment after a roll-back: type "npm run ops -- --stage ${stage} rollback" now, and set gradual: false in stages/${stage}.ts for the next deployment`;
}
