import {
  DeleteFunctionCommand,
  type LambdaClient,
  ListAliasesCommand,
  ListVersionsByFunctionCommand,
} from '@aws-sdk/client-lambda';

/** The request of CloudFormation at the end of a release in a stack, as far as it is read. */
export interface ReleaseEndRequest {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  readonly ResourceProperties: ReleaseEndProperties;
  /** Those of the release before; none at the first one. */
  readonly OldResourceProperties?: ReleaseEndProperties;
}

/** A release, and the ARNs of the versions that the stack's aliases lead to. */
interface ReleaseEndProperties {
  readonly Release: string;
  readonly Versions: readonly string[];
}

/** The answer to CloudFormation: the release, a space, and the names of the functions that it published. */
interface ReleaseEndAnswer {
  readonly Data: { readonly Release: string };
}

/** The effects of ending a release. */
export interface ReleaseEndEffects {
  /** The state of a stack, such as `UPDATE_IN_PROGRESS`. */
  readonly readStackStatus: (stackId: string) => Promise<string>;
  readonly lambda: Pick<LambdaClient, 'send'>;
  readonly warn: (text: string) => void;
}

/**
 * Makes what ends a release in a stack: it tells which functions got a version by it, and deletes all but the newest three versions of
 * each, and never one that an alias leads to. It fails no deployment: what it could not delete it says in its log, and the next one
 * tries again.
 */
export function makeEndRelease({ readStackStatus, lambda, warn }: ReleaseEndEffects) {
  return async function endRelease(request: ReleaseEndRequest): Promise<ReleaseEndAnswer> {
    const { RequestType, StackId, ResourceProperties, OldResourceProperties } = request;
    const { Release, Versions } = ResourceProperties;
    const published = Versions.filter(version => !OldResourceProperties?.Versions.includes(version));
    if (RequestType !== 'Delete') await deleteOldVersions(StackId, Versions);
    return { Data: { Release: `${Release} ${published.map(nameIn).join(',')}` } };
  };

  async function deleteOldVersions(stackId: string, inUse: readonly string[]): Promise<void> {
    try {
      if ((await readStackStatus(stackId)).includes('ROLLBACK')) return;
    } catch (error) {
      warn(`no version was deleted: ${String(error)}`);
      return;
    }
    await Promise.all(
      inUse.map(async version => {
        const functionName = nameIn(version);
        try {
          await clear(functionName);
        } catch (error) {
          warn(`old versions of ${functionName} were not deleted: ${String(error)}`);
        }
      }),
    );
  }

  async function clear(FunctionName: string): Promise<void> {
    const [versions, used] = await Promise.all([listVersions(FunctionName), listUsed(FunctionName)]);
    const old = versions.toSorted((one, other) => other - one).slice(keptVersions);
    for (const version of old) {
      if (used.has(version)) continue;
      await lambda.send(new DeleteFunctionCommand({ FunctionName, Qualifier: String(version) }));
    }
  }

  /** Returns the numbers of the versions. */
  async function listVersions(FunctionName: string): Promise<readonly number[]> {
    const found: number[] = [];
    let Marker: string | undefined;
    do {
      const page = await lambda.send(new ListVersionsByFunctionCommand({ FunctionName, Marker }));
      for (const { Version = '' } of page.Versions ?? []) if (/^\d+$/.test(Version)) found.push(Number(Version));
      Marker = page.NextMarker;
    } while (Marker);
    return found;
  }

  /** Returns the versions that aliases lead to, with a part of the requests or with all. */
  async function listUsed(FunctionName: string): Promise<ReadonlySet<number>> {
    const found = new Set<number>();
    let Marker: string | undefined;
    do {
      const page = await lambda.send(new ListAliasesCommand({ FunctionName, Marker }));
      for (const { FunctionVersion, RoutingConfig } of page.Aliases ?? []) {
        const weights = Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {});
        for (const version of [FunctionVersion, ...weights]) found.add(Number(version));
      }
      Marker = page.NextMarker;
    } while (Marker);
    return found;
  }
}

/** Returns the name of the function in the ARN of a version. */
function nameIn(version: string): string {
  return version.split(':').at(-2) ?? '';
}

/** The version that serves, and two to go back to. */
const keptVersions = 3;
