import type { MovedAlias } from '../deployment/live-functions.ts';
import { nextDeployment } from '../deployment/next-deployment.ts';
import { adviceOn, isChanging } from '../deployment/stack-states.ts';
import { isUnread, opsOf } from '../stage/operator.ts';
import { counted, listed } from '../stage/sentences.ts';
import { isLeftOver, type StageStacks, stackNameOf } from '../stage/stage-stacks.ts';
import type { Facts, StackView } from './status-facts.ts';

/** Finds problems with a stage's deployment. Returns a sentence with advice about each. */
export function stageProblems(facts: Facts, deployed: StageStacks): readonly string[] {
  return [
    ...missingStacks(deployed),
    ...stackStates(deployed),
    ...differentVersions(facts, deployed),
    ...missingProtection(facts, deployed),
  ];
}

function missingStacks({ configuration: { stage }, region, account, stacks }: StageStacks): readonly string[] {
  const missing = stacks.filter(({ found }) => found === undefined).map(({ stackName }) => stackName);
  if (missing.length === 0) return [];
  const next = `Run "npm run preflight -- --stage ${stage}", then "npx cdk deploy --all -c stage=${stage}"`;
  if (missing.length === stacks.length) {
    return [`stage ${stage} is not deployed in ${region} of account ${account}. ${next}.`];
  }
  return [`stage ${stage} is only partly deployed. Missing: ${listed(missing)}. ${next}.`];
}

function stackStates(deployed: StageStacks): readonly string[] {
  return deployed.stacks.flatMap(stack => adviceOn(stack, deployed) ?? []);
}

function differentVersions({ stacks }: Pick<Facts, 'stacks'>, deployed: StageStacks): readonly string[] {
  const { configuration } = deployed;
  const leftOver = deployed.stacks.filter(stack => isLeftOver(stack, configuration)).map(({ stackName }) => stackName);
  const existing = (stacks ?? []).filter(({ name, state }) => state !== null && !leftOver.includes(name));
  const byVersion = listDifferent(existing, ({ version }) => version ?? 'unknown');
  const byRelease = listDifferent(existing, ({ release }) => release); // the data stack has no functions and no release
  const different = byVersion
    ? `at different versions, ${listedGroups(byVersion)}`
    : byRelease && `of different releases, ${listedGroups(byRelease)}`;
  if (!different) return [];
  return [
    `the stacks are ${different}: the last deployment is incomplete. Run: npx cdk deploy --all -c stage=${configuration.stage}`,
  ];
}

function listedGroups(groups: NonNullable<ReturnType<typeof listDifferent>>): string {
  return listed(groups.map(({ value, stacks }) => `${value} (${listed(stacks)})`));
}

/** Groups stacks by a value. Returns `undefined` if all stacks have the same value. */
function listDifferent(existing: readonly StackView[], read: (stack: StackView) => string | null) {
  const groups = [...Map.groupBy(existing, read)].filter(([value]) => value !== null);
  if (groups.length < 2) return undefined;
  return groups.map(([value, views]) => ({ value: String(value), stacks: views.map(({ name }) => name) }));
}

/** Finds unprotected stacks and tables. A stage that does not retain its data needs no protection. */
function missingProtection(facts: Pick<Facts, 'stacks' | 'tables'>, { configuration }: StageStacks): readonly string[] {
  const { stage, removalPolicy, protection } = configuration;
  if (removalPolicy !== 'retain') return [];
  const withoutData = stackNameOf(stage, 'Smoke');
  const stacks = (facts.stacks ?? []).filter(
    ({ name, state, terminationProtection }) => name !== withoutData && state !== null && !terminationProtection,
  );
  const tables = isUnread(facts.tables) ? [] : facts.tables.filter(table => !table.deletionProtection);
  if (stacks.length + tables.length === 0) return [];
  const unprotected: string[] = [];
  if (stacks.length > 0) unprotected.push(counted(stacks.length, 'stack'));
  if (tables.length > 0) unprotected.push(counted(tables.length, 'table'));
  const next = protection
    ? `stages/${stage}.ts sets protection: true. Run "npx cdk deploy --all -c stage=${stage}"`
    : `Once the first deployment is complete, set protection to true in stages/${stage}.ts and deploy again`;
  return [`${listed(unprotected)} can be deleted by mistake, because protection is off. ${next}.`];
}

/** Finds aliases that were moved since the last deployment, because they affect the next deployment. */
export function aliasProblems(
  { movedAliases }: Pick<Facts, 'movedAliases'>,
  deployed: StageStacks | undefined,
): readonly string[] {
  if (!deployed || isUnread(movedAliases) || deployed.stacks.some(isChanging)) return [];
  const listOf = (isMatch: (alias: MovedAlias) => boolean) => listed(movedAliases.filter(isMatch).map(describeAlias));
  const moved = listOf(({ version, deployedVersion }) => version !== deployedVersion);
  const shifting = listOf(({ version, deployedVersion, sharing }) => version === deployedVersion && sharing.length > 0);
  const ops = opsOf(deployed.configuration.stage);
  return [
    ...(moved
      ? [
          `Aliases were moved since the last deployment: ${moved}. For the next deployment, run: ${nextDeployment(deployed)}`,
        ]
      : []),
    ...(shifting
      ? [
          `No deployment is in progress, but some of the traffic still goes to another version: ${shifting}. "${ops} rollback" lists the releases, and "${ops} rollback RELEASE" sends all traffic to one of them.`,
        ]
      : []),
  ];
}

function describeAlias({ function: name, version, deployedVersion, sharing }: MovedAlias): string {
  const others = sharing.length > 0 ? ` and ${sharing.join(', ')}` : '';
  return `${name} (at version ${version}${others}, deployed ${deployedVersion ?? 'unknown'})`;
}
