import {
  DeleteFunctionCommand,
  type LambdaClient,
  ListAliasesCommand,
  ListVersionsByFunctionCommand,
} from '@aws-sdk/client-lambda';
import { type Waiting, withPatience } from './patience.ts';
import { readRecord } from './rollback-record.ts';
import type { StackState } from './stack-state.ts';

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

/** The answer to CloudFormation: the release, a space, and what it published (`NAME:VERSION,…`); then the same of the release before. */
interface ReleaseEndAnswer {
  readonly Data: { readonly Release: string };
}

export interface ReleaseEndEffects extends Waiting {
  readonly readStack: (stackId: string) => Promise<StackState>;
  readonly lambda: Pick<LambdaClient, 'send'>;
  readonly warn: (text: string) => void;
}

/**
 * Makes what ends a release in a stack: it tells which functions got a version by it, and deletes old versions of each. The newest three
 * stay, the newest three that nobody took back, what an alias leads to, what it was led back to, and what it led to before this
 * deployment, which may still fail. It fails no deployment: what it could not delete it says in its log, and the next one tries again.
 */
export function makeEndRelease({ readStack, lambda, warn, ...waiting }: ReleaseEndEffects) {
  return async function endRelease(request: ReleaseEndRequest): Promise<ReleaseEndAnswer> {
    const { RequestType, StackId, ResourceProperties, OldResourceProperties } = request;
    const { Release, Versions } = ResourceProperties;
    const published = Versions.filter(version => !OldResourceProperties?.Versions.includes(version));
    const stack = await tryToRead(StackId);
    const isRollingBack = stack?.status.includes('ROLLBACK') === true;
    if (isRollingBack) return { Data: { Release: stack?.release ?? '' } };
    if (RequestType !== 'Delete' && stack) await deleteOldVersions(Versions, new Set(OldResourceProperties?.Versions));
    const before = stack?.release ? stack.release.split(' ').slice(0, 2) : [];
    return { Data: { Release: [Release, published.map(functionAndNumber).join(','), ...before].join(' ') } };
  };

  async function tryToRead(stackId: string): Promise<StackState | undefined> {
    try {
      return await withPatience(waiting, () => readStack(stackId));
    } catch (error) {
      warn(`no version was deleted: ${String(error)}`);
      return undefined;
    }
  }

  async function deleteOldVersions(inUse: readonly string[], before: ReadonlySet<string>): Promise<void> {
    await Promise.all(
      inUse.map(async version => {
        const functionName = functionNameIn(version);
        try {
          await clear(functionName, number => before.has(`${version.slice(0, version.lastIndexOf(':'))}:${number}`));
        } catch (error) {
          warn(`old versions of ${functionName} were not deleted: ${String(error)}`);
        }
      }),
    );
  }

  async function clear(FunctionName: string, wasBefore: (version: number) => boolean): Promise<void> {
    const [versions, { used, takenBack }] = await Promise.all([listVersions(FunctionName), readAliases(FunctionName)]);
    const newest = versions.toSorted((one, other) => other - one);
    const good = newest.filter(version => !takenBack.has(version));
    const kept = new Set([...newest.slice(0, keptVersions), ...good.slice(0, keptVersions), ...used]);
    for (const version of newest) {
      if (kept.has(version) || wasBefore(version)) continue;
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

  /** Returns the versions that aliases lead to, with a part of the requests or with all, or were led back to; and those taken back. */
  async function readAliases(FunctionName: string) {
    const used = new Set<number>();
    const takenBack = new Set<number>();
    let Marker: string | undefined;
    do {
      const page = await lambda.send(new ListAliasesCommand({ FunctionName, Marker }));
      for (const { FunctionVersion, RoutingConfig, Description } of page.Aliases ?? []) {
        const weights = Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {});
        const record = readRecord(Description);
        for (const version of [FunctionVersion, ...weights, record?.to ?? FunctionVersion]) used.add(Number(version));
        for (const version of record?.from ?? []) takenBack.add(version);
      }
      Marker = page.NextMarker;
    } while (Marker);
    return { used, takenBack };
  }
}

/** Returns the name of the function in the ARN of a version. */
export function functionNameIn(version: string): string {
  return version.split(':').at(-2) ?? '';
}

function functionAndNumber(version: string): string {
  return version.split(':').slice(-2).join(':');
}

/** The version that serves, and two to go back to. */
const keptVersions = 3;
