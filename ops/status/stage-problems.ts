import type { RolledBack } from '../deployment/live-functions.ts';
import { adviceOn, isChanging } from '../deployment/stack-states.ts';
import { isUnread, opsOf } from '../stage/operator.ts';
import { isLeftOver, type StageStacks, stackNameOf } from '../stage/stage-stacks.ts';
import type { Problem } from './problem.ts';
import { counted, listed } from './sentences.ts';
import type { Facts, StackView } from './status-facts.ts';

/** Finds what is wrong with how a stage is deployed, each in a sentence with what to do. */
export function stageProblems(facts: Facts, deployed: StageStacks): readonly Problem[] {
  return [
    ...missingStacks(deployed),
    ...stackStates(deployed),
    ...differentVersions(facts, deployed),
    ...missingProtection(facts, deployed),
    ...rolledBackProblems(facts),
  ];
}

/** Says that versions are in use again that were taken back: the first line of all, since somebody has to type at once. */
export function inUseAgain({ rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>): readonly Problem[] {
  const functions = inState(rolledBack, 'returned');
  if (functions.length === 0) return [];
  const sentence = `the versions that were taken back are in use again, since a deployment failed after the roll-back and was undone, of ${listed(functions)}: ${opsOf(stage)} rollback takes them back again.`;
  return [{ kind: 'versions in use again', functions, sentence }];
}

function missingStacks({ configuration: { stage }, region, account, stacks }: StageStacks): readonly Problem[] {
  const missing = stacks.filter(({ found }) => found === undefined).map(({ stackName }) => stackName);
  if (missing.length === 0) return [];
  const next = `npm run preflight -- --stage ${stage}, then npx cdk deploy --all -c stage=${stage}`;
  if (missing.length === stacks.length) {
    const sentence = `stage ${stage} is not deployed in ${region} of account ${account}: ${next}.`;
    return [{ kind: 'not deployed', stacks: missing, sentence }];
  }
  const sentence = `stage ${stage} is deployed in part: without ${listed(missing)}. ${next}.`;
  return [{ kind: 'deployed in part', stacks: missing, sentence }];
}

function stackStates(deployed: StageStacks): readonly Problem[] {
  return deployed.stacks.flatMap(stack => {
    const sentence = adviceOn(stack, deployed);
    if (sentence === undefined) return [];
    const state = stack.found?.StackStatus ?? '';
    const isUnwanted = isLeftOver(stack, deployed.configuration);
    return { kind: 'stack', name: stack.stackName, state, isUnwanted, sentence } as const;
  });
}

function differentVersions({ stacks }: Pick<Facts, 'stacks'>, deployed: StageStacks): readonly Problem[] {
  const { configuration } = deployed;
  const leftOver = deployed.stacks.filter(stack => isLeftOver(stack, configuration)).map(({ stackName }) => stackName);
  const own = (stacks ?? []).filter(({ name, state }) => state !== null && !leftOver.includes(name));
  const byVersion = listDifferent(own, ({ version }) => version ?? 'unknown');
  const byRelease = listDifferent(own, ({ release }) => release); // the data stack, without functions, has none
  const different = byVersion
    ? `at different versions, ${listedGroups(byVersion)}`
    : byRelease && `of different releases, ${listedGroups(byRelease)}`;
  if (!different) return [];
  const sentence = `the stacks are ${different}: a deployment did not get to its end. npx cdk deploy --all -c stage=${configuration.stage}.`;
  return [{ kind: 'different versions', found: byVersion ?? byRelease ?? [], sentence }];
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
function missingProtection(
  facts: Pick<Facts, 'stacks' | 'tables'>,
  { configuration }: StageStacks,
): readonly Problem[] {
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
  const sentence = `${listed(open)} can be deleted by mistake: nothing protects them. ${next}.`;
  return [{ kind: 'unprotected', stacks: stacks.length, tables: tables.length, sentence }];
}

/** Finds aliases that still shift although no deployment is in progress. */
export function shiftingProblems(
  { rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>,
  deployed: Pick<StageStacks, 'stacks'> | undefined,
): readonly Problem[] {
  const functions = deployed?.stacks.some(isChanging) ? [] : inState(rolledBack, 'shifting');
  if (functions.length === 0) return [];
  const sentence = `no deployment is under way, and a part of the requests still goes to the newer version of ${listed(functions)}: ${opsOf(stage)} rollback ends that.`;
  return [{ kind: 'shifting', functions, sentence }];
}

function rolledBackProblems({ rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>): readonly Problem[] {
  const functions = inState(rolledBack, 'rolled back');
  if (functions.length === 0) return [];
  const sentence = `rolled back: ${listed(functions)}. Correct what was wrong, and deploy: that leads every function to a new version. If that fails, ${opsOf(stage)} rollback at once (docs/runbook.md, "A bad version was deployed").`;
  return [{ kind: 'rolled back', functions, sentence }];
}

function inState(rolledBack: Facts['rolledBack'], wanted: RolledBack['state']): readonly string[] {
  return isUnread(rolledBack) ? [] : rolledBack.filter(({ state }) => state === wanted).map(wayOf);
}

function wayOf({ function: name, from, to }: RolledBack): string {
  return `${name} (${from} to ${to})`;
}
