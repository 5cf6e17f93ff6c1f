import type { RolledBack } from '../deployment/live-functions.ts';
import { adviceOn, isChanging } from '../deployment/stack-states.ts';
import { isUnread, opsOf } from '../stage/operator.ts';
import { isLeftOver, type StageStacks, stackNameOf } from '../stage/stage-stacks.ts';
import { counted, listed } from './sentences.ts';
import type { Facts, StackView } from './status-facts.ts';

/** Finds what is wrong with how a stage is deployed, each in a sentence with what to do. */
export function stageProblems(facts: Facts, deployed: StageStacks): readonly string[] {
  return [
    ...missingStacks(deployed),
    ...stackStates(deployed),
    ...differentVersions(facts, deployed),
    ...missingProtection(facts, deployed),
    ...rolledBackProblems(facts),
  ];
}

/** Says that versions are in use again that were taken back: the first line of all, since somebody has to type at once. */
export function inUseAgain({ rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>): readonly string[] {
  const functions = inState(rolledBack, 'returned');
  if (functions.length === 0) return [];
  return [
    `the versions that were taken back are in use again, since a deployment failed after the roll-back and was undone, of ${listed(functions)}: ${opsOf(stage)} rollback takes them back again.`,
  ];
}

function missingStacks({ configuration: { stage }, region, account, stacks }: StageStacks): readonly string[] {
  const missing = stacks.filter(({ found }) => found === undefined).map(({ stackName }) => stackName);
  if (missing.length === 0) return [];
  const next = `npm run preflight -- --stage ${stage}, then npx cdk deploy --all -c stage=${stage}`;
  if (missing.length === stacks.length) {
    return [`stage ${stage} is not deployed in ${region} of account ${account}: ${next}.`];
  }
  return [`stage ${stage} is deployed in part: without ${listed(missing)}. ${next}.`];
}

function stackStates(deployed: StageStacks): readonly string[] {
  return deployed.stacks.flatMap(stack => adviceOn(stack, deployed) ?? []);
}

function differentVersions({ stacks }: Pick<Facts, 'stacks'>, deployed: StageStacks): readonly string[] {
  const { configuration } = deployed;
  const leftOver = deployed.stacks.filter(stack => isLeftOver(stack, configuration)).map(({ stackName }) => stackName);
  const own = (stacks ?? []).filter(({ name, state }) => state !== null && !leftOver.includes(name));
  const byVersion = listDifferent(own, ({ version }) => version ?? 'unknown');
  const byRelease = listDifferent(own, ({ release }) => release); // the data stack, without functions, has none
  const different = byVersion
    ? `at different versions, ${listedGroups(byVersion)}`
    : byRelease && `of different releases, ${listedGroups(byRelease)}`;
  if (!different) return [];
  return [
    `the stacks are ${different}: a deployment did not get to its end. npx cdk deploy --all -c stage=${configuration.stage}.`,
  ];
}

function listedGroups(groups: NonNullable<ReturnType<typeof listDifferent>>): string {
  return listed(groups.map(({ value, stacks }) => `${value} (${listed(stacks)})`));
}

/** Lists stacks by a value of them that some differ in; `undefined` where they do not. */
function listDifferent(own: readonly StackView[], read: (stack: StackView) => string | null) {
  const groups = [...Map.groupBy(own, read)].filter(([value]) => value !== null);
  if (groups.length < 2) return undefined;
  return groups.map(([value, ofIt]) => ({ value: String(value), stacks: ofIt.map(({ name }) => name) }));
}

/** Only a stage that keeps its data must be protected: the others are there to be deleted. */
function missingProtection(facts: Pick<Facts, 'stacks' | 'tables'>, { configuration }: StageStacks): readonly string[] {
  const { stage, removalPolicy, protection } = configuration;
  if (removalPolicy !== 'retain') return [];
  const holdsNothing = stackNameOf(stage, 'Smoke');
  const stacks = (facts.stacks ?? []).filter(
    ({ name, state, terminationProtection }) => name !== holdsNothing && state !== null && !terminationProtection,
  );
  const tables = isUnread(facts.tables) ? [] : facts.tables.filter(table => !table.deletionProtection);
  if (stacks.length + tables.length === 0) return [];
  const open: string[] = [];
  if (stacks.length > 0) open.push(counted(stacks.length, 'stack'));
  if (tables.length > 0) open.push(counted(tables.length, 'table'));
  const next = protection
    ? `The file stages/${stage}.ts asks for it: npx cdk deploy --all -c stage=${stage}`
    : `Once the first deployment is complete, set protection to true in stages/${stage}.ts and deploy again`;
  return [`${listed(open)} can be deleted by mistake: nothing protects them. ${next}.`];
}

/** Finds aliases that still shift although no deployment is in progress. */
export function shiftingProblems(
  { rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>,
  deployed: Pick<StageStacks, 'stacks'> | undefined,
): readonly string[] {
  const functions = deployed?.stacks.some(isChanging) ? [] : inState(rolledBack, 'shifting');
  if (functions.length === 0) return [];
  return [
    `no deployment is in progress, and a part of the requests still goes to the newer version of ${listed(functions)}: ${opsOf(stage)} rollback ends that.`,
  ];
}

function rolledBackProblems({ rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>): readonly string[] {
  const functions = inState(rolledBack, 'rolled back');
  if (functions.length === 0) return [];
  return [
    `rolled back: ${listed(functions)}. Correct what was wrong, and deploy: that leads every function to a new version. If that fails, ${opsOf(stage)} rollback at once (docs/runbook.md, "A bad version was deployed").`,
  ];
}

function inState(rolledBack: Facts['rolledBack'], wanted: RolledBack['state']): readonly string[] {
  return isUnread(rolledBack) ? [] : rolledBack.filter(({ state }) => state === wanted).map(wayOf);
}

function wayOf({ function: name, from, to }: RolledBack): string {
  return `${name} (${from} to ${to})`;
}
