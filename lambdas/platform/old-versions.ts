import {
  DeleteFunctionCommand,
  type LambdaClient,
  ListAliasesCommand,
  ListVersionsByFunctionCommand,
} from '@aws-sdk/client-lambda';

/** The request of CloudFormation to delete old versions, as far as it is read. */
export interface OldVersionsRequest {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  /** The ARNs of the versions that the stack leads its aliases to. */
  readonly ResourceProperties: { readonly Published: readonly string[] };
}

/** The effects of deleting old versions. */
export interface OldVersionsEffects {
  /** The state of a stack, such as `UPDATE_IN_PROGRESS`. */
  readonly readStackStatus: (stackId: string) => Promise<string>;
  readonly lambda: Pick<LambdaClient, 'send'>;
  readonly warn: (text: string) => void;
}

/**
 * Makes what deletes all but the newest three versions of each function, and never one that an alias leads to. It fails no
 * deployment: what it could not delete it says in its log, and the next one tries again.
 */
export function makeDeleteOldVersions({ readStackStatus, lambda, warn }: OldVersionsEffects) {
  return async function deleteOldVersions(request: OldVersionsRequest): Promise<void> {
    const { RequestType, StackId, ResourceProperties } = request;
    if (RequestType === 'Delete') return;
    try {
      if ((await readStackStatus(StackId)).includes('ROLLBACK')) return;
    } catch (error) {
      warn(`no version was deleted: ${String(error)}`);
      return;
    }
    await Promise.all(
      ResourceProperties.Published.map(async version => {
        const functionName = version.split(':').slice(0, -1).join(':');
        try {
          await clear(functionName);
        } catch (error) {
          warn(`old versions of ${functionName} were not deleted: ${String(error)}`);
        }
      }),
    );
  };

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

/** The version that serves, and two to go back to. */
const keptVersions = 3;
