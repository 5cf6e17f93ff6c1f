import { provisionedScaling, standardScaling } from '@emissor/virtual-cloud';
import type { Stage } from '../stage.ts';

/** What a stage is like when an attack begins. */
export interface Situation {
  readonly name: string;
  /** Whether queues keep accounts from each other's backlog; otherwise messages come in the order of their arrival. */
  readonly isFair: boolean;
  readonly giveUp: 'waiting' | 'always';
  /** The age of a queue's count of messages when it is asked, in milliseconds. */
  readonly countLag: number;
  readonly isProvisioned: boolean;
  /** The moment when the attack begins, in milliseconds: at 0 nothing runs yet. */
  readonly from: number;
}

const standing = { isFair: false, giveUp: 'waiting', countLag: 0, isProvisioned: false, from: 0 } as const;
const steady = { ...standing, isFair: true, from: 60_000 } as const;

/** A standing start, and messages in order of arrival. */
export const inOrder: Situation = { name: 'in order', ...standing };

/** The situations that each attack is tried in: beside `inOrder`, a minute of steady load before it and fair queues. */
export const usualSituations: readonly Situation[] = [inOrder, { name: 'fair', ...steady }];

/** Those that some attacks are tried in. */
export const furtherSituations: readonly Situation[] = [
  { name: 'counts lag', ...standing, countLag: 2_000 },
  { name: 'give up always', ...standing, giveUp: 'always' },
  { name: 'provisioned', ...standing, isProvisioned: true },
];

/** Returns how the event sources of the lanes grow: by themselves, or from two pollers on. */
export function scalingIn({ isProvisioned }: Situation): Stage['scalingOf'] {
  const of = (most: number) => (isProvisioned ? provisionedScaling(2, most / 10) : standardScaling(most));
  return { first: of(50), retry: of(20), slow: of(20) };
}
