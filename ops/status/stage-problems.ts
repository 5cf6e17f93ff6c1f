import type { RolledBack } from '../deployment/live-functions.ts';
import { adviceOn } from '../deployment/stack-states.ts';
import { isUnread } from '../stage/operator.ts';
import { isLeftOver, type StageStacks, stackNameOf } from '../stage/stage-stacks.ts';
import { counted, listed, opsOf } from './sentences.ts';
import type { Facts } from './status-facts.ts';

/** Finds what is wrong with how a stage is deployed, each in a sentence with what to do. */
export function stageProblems(facts: Facts, deployed: StageStacks): readonly string[] {
  return [
    ...missingStacks(deployed),
    ...stackStates(deployed),
    ...differentVersions(facts, deployed),
    ...missingProtection(facts, deployed),
    ...rollbacks(facts),
  ];
}

function missingStacks({ configuration: { stage }, region, account, stacks }: StageStacks): readonly string[] {
  const missing = stacks.filter(({ found }) => found === undefined);
  if (missing.length === 0) return [];
  const next = `npm run preflight -- --stage ${stage}, then npx cdk deploy --all -c stage=${stage}`;
  if (missing.length === stacks.length) {
    return [`stage ${stage} is not deployed in ${region} of account ${account}: ${next}.`];
  }
  return [`stage ${stage} is deployed in part: without ${listed(missing.map(({ stackName }) => stackName))}. ${next}.`];
}

function stackStates(deployed: StageStacks): readonly string[] {
  return deployed.stacks.flatMap(stack => adviceOn(stack, deployed) ?? []);
}

function differentVersions({ stacks }: Pick<Facts, 'stacks'>, deployed: StageStacks): readonly string[] {
  const { configuration } = deployed;
  const leftOver = deployed.stacks.filter(stack => isLeftOver(stack, configuration)).map(({ stackName }) => stackName);
  const own = (stacks ?? []).filter(({ name, state }) => state !== null && !leftOver.includes(name));
  const byVersion = Map.groupBy(own, ({ version }) => version ?? 'unknown');
  if (byVersion.size < 2) return [];
  const versions = [...byVersion].map(([version, ofIt]) => `${version} (${listed(ofIt.map(({ name }) => name))})`);
  return [
    `the stacks are at different versions, ${listed(versions)}: a deployment did not get to its end. npx cdk deploy --all -c stage=${configuration.stage}.`,
  ];
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

function rollbacks({ rolledBack, stage }: Pick<Facts, 'rolledBack' | 'stage'>): readonly string[] {
  if (isUnread(rolledBack)) return [];
  const returned = rolledBack.filter(({ state }) => state === 'returned').map(wayOf);
  const back = rolledBack.filter(({ state }) => state === 'rolled back').map(wayOf);
  const problems: string[] = [];
  if (returned.length > 0) {
    problems.push(
      `the versions that were taken back are in use again, since a deployment failed after the roll-back and was undone, of ${listed(returned)}: ${opsOf(stage)} rollback takes them back again.`,
    );
  }
  if (back.length > 0) {
    problems.push(
      `rolled back: ${listed(back)}. Correct what was wrong, and deploy: that leads every function to a new version (docs/runbook.md, "A bad version was deployed").`,
    );
  }
  return problems;
}

function wayOf({ function: name, from, to }: RolledBack): string {
  return `${name} (${from} to ${to})`;
}
