import { LambdaClient, paginateListVersionsByFunction } from '@aws-sdk/client-lambda';
import type { StageStacks } from '../stage/stage-stacks.ts';
import type { Connect } from '../stage/world.ts';
import { ownStacks, publishedByLatest } from './latest-deployment.ts';
import { readLiveFunctions } from './live-functions.ts';
import type { Wants } from './missing-grants.ts';
import type { Candidate, Version } from './rollback-plan.ts';

/** A function with the settings of its versions. */
export interface Deployed extends Candidate {
  readonly wants: ReadonlyMap<number, Wants>;
}

/** Reads the functions of a stage, where they lead, and the versions that are kept of each. */
export async function readCandidates(connect: Connect, deployed: StageStacks): Promise<readonly Deployed[]> {
  const stacks = ownStacks(deployed);
  const lambda = connect(LambdaClient);
  const functions = await readLiveFunctions(connect, stacks);
  const published = publishedByLatest(stacks);
  return Promise.all(
    functions.map(async one => {
      const { versions, wants } = await readVersions(lambda, one.functionName, deployed.region);
      const { functionName } = one;
      const isOfLatest = published.latest.has(functionName);
      const [publishedBefore, publishedEarlier] = [published.before, published.earlier].map(of => of.get(functionName));
      return { ...one, versions, wants, isOfLatest, publishedBefore, publishedEarlier };
    }),
  );
}

async function readVersions(client: LambdaClient, FunctionName: string, region: string) {
  const versions: Version[] = [];
  const wants = new Map<number, Wants>();
  for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName })) {
    for (const { Version = '', LastModified = '', Role = '', Environment } of Versions) {
      if (!/^\d+$/.test(Version)) continue;
      versions.push({ version: Number(Version), publishedAt: Date.parse(LastModified) });
      wants.set(Number(Version), { roleArn: Role, region, environment: Environment?.Variables ?? {} });
    }
  }
  return { versions, wants };
}
