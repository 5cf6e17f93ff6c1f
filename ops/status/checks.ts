import type { StageStacks } from '../stage/stage-stacks.ts';
import { awsProblems } from './aws-view.ts';
import { deliveryProblems } from './delivery-problems.ts';
import {
  bootstrapProblems,
  certificateProblems,
  concurrencyProblems,
  type DeploymentProblems,
  type DeploymentSubject,
  domainProblems,
  otherRegionProblems,
  ownerProblems,
  protectionProblems,
  removedDataProblems,
  retainedResourceProblems,
  stackProblems,
} from './deployment-checks.ts';
import { recipientProblems } from './recipients.ts';
import { aliasProblems, stageProblems } from './stage-problems.ts';
import type { Facts } from './status-facts.ts';
import { alarmProblems, backlogProblems, deadLetterProblems, keyProblems, webhookProblems } from './status-problems.ts';

/** A check. `when` specifies whether `ops status`, `npm run preflight` (before a deployment) or both run the check. */
export type Check = { readonly name: string } & (
  | { readonly when: 'status'; readonly find: (subject: StatusSubject) => readonly string[] }
  | { readonly when: 'both'; readonly find: (subject: SharedSubject) => readonly string[] }
  | { readonly when: 'before-deployment'; readonly find: (subject: DeploymentSubject) => DeploymentProblems }
);

/** The input of the checks that both `ops status` and the preflight run. */
interface SharedSubject {
  readonly facts: Pick<Facts, 'movedAliases'>;
  /** The stacks, or `undefined` for a local run. */
  readonly deployed: StageStacks | undefined;
}

interface StatusSubject extends SharedSubject {
  readonly facts: Facts;
  /** The present time, in milliseconds since the epoch. */
  readonly now: number;
}

/** All checks. `ops status` reports problems in this order, most severe first. */
export const checks: readonly Check[] = [
  { name: 'stage', when: 'status', find: ({ facts, deployed }) => (deployed ? stageProblems(facts, deployed) : []) },
  { name: 'aliases', when: 'both', find: ({ facts, deployed }) => aliasProblems(facts, deployed) },
  { name: 'alarms', when: 'status', find: ({ facts }) => alarmProblems(facts) },
  { name: 'AWS', when: 'status', find: ({ facts }) => awsProblems(facts) },
  { name: 'recipients', when: 'status', find: ({ facts }) => recipientProblems(facts.recipients) },
  { name: 'deliveries', when: 'status', find: ({ facts }) => deliveryProblems(facts) },
  { name: 'queues', when: 'status', find: ({ facts }) => backlogProblems(facts) },
  { name: 'dead letters', when: 'status', find: ({ facts }) => deadLetterProblems(facts) },
  { name: 'webhooks', when: 'status', find: ({ facts, now }) => webhookProblems(facts, now) },
  { name: 'keys', when: 'status', find: ({ facts, now }) => keyProblems(facts, now) },
  { name: 'stacks', when: 'before-deployment', find: stackProblems },
  { name: 'bootstrap', when: 'before-deployment', find: bootstrapProblems },
  { name: 'concurrency', when: 'before-deployment', find: concurrencyProblems },
  { name: 'certificates', when: 'before-deployment', find: certificateProblems },
  { name: 'domains', when: 'before-deployment', find: domainProblems },
  { name: 'protection', when: 'before-deployment', find: protectionProblems },
  { name: 'owner', when: 'before-deployment', find: ownerProblems },
  { name: 'other Regions', when: 'before-deployment', find: otherRegionProblems },
  { name: 'retained resources', when: 'before-deployment', find: retainedResourceProblems },
  { name: 'removed data', when: 'before-deployment', find: removedDataProblems },
];

/**
 * Finds the problems that `ops status` reports, most severe first.
 * @param now - the present time, in milliseconds since the epoch.
 */
export function findProblems(facts: Facts, deployed: StageStacks | undefined, now: number): readonly string[] {
  return checks.flatMap(check => (check.when === 'before-deployment' ? [] : check.find({ facts, deployed, now })));
}
