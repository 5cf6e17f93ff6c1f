import { standardScaling } from '@emissor/virtual-cloud';
import { lanePlaces } from '../../../lib/lane-places.ts';
import type { Stage } from '../stage.ts';
import { attacks, silentPuts } from './attacks.ts';

/** The state of a stage when an attack begins. */
export interface Situation {
  readonly name: string;
  /** True where queues keep accounts from each other's backlog; otherwise messages come in the order of their arrival. */
  readonly isFair: boolean;
  readonly giveUp: 'waiting' | 'always';
  /** The age of a queue's count of messages when it is asked, in milliseconds. */
  readonly countLag: number;
  /** The concurrent executions of the account. @default - no limit */
  readonly concurrency?: number;
  /** The moment when the attack begins, in milliseconds: at 0 nothing runs yet. */
  readonly from: number;
}

const standing = { isFair: false, giveUp: 'waiting', countLag: 0, from: 0 } as const;
const steady = { ...standing, isFair: true, from: 60_000 } as const;

/** A standing start, and messages in order of arrival. */
export const inOrder: Situation = { name: 'in order', ...standing };

/** A new AWS account, which has 10 concurrent executions. */
export const newAccount: Situation = { name: 'new account', ...steady, concurrency: 10 };

/** The situations that each attack is tried in: beside `inOrder`, a minute of steady load before it and fair queues. */
const usualSituations: readonly Situation[] = [inOrder, { name: 'fair', ...steady }];

/** Those that some attacks are tried in. */
const furtherSituations: readonly Situation[] = [
  { name: 'counts lag', ...standing, countLag: 2_000 },
  { name: 'give up always', ...standing, giveUp: 'always' },
];

/** An attack in a situation. */
export interface Trial {
  readonly attack: string;
  readonly situation: Situation;
}

/** Three minutes of attack, in milliseconds. */
export const attackLength = 180_000;

/** The trials of the gate, all in order of arrival: innocents are run alone once. */
export const quickTrials: readonly Trial[] = [
  'always hangs, burst of 5,000',
  '50 accounts: answers in 1.9 s, 100 each every 10 s',
  'answers in 2.5 s, hangs after 90 s, 30/s',
].map(attack => ({ attack, situation: inOrder }));

/** The choice of trials. */
export interface TrialChoice {
  /** The names of attacks contain it. */
  readonly attack: string;
  /** The order of messages; without it both. */
  readonly order: 'fair' | 'arrival' | undefined;
  /** The three trials of the gate. */
  readonly isQuick: boolean;
}

/** Returns the trials that are chosen, by attack. @throws {TypeError} where there are none. */
export function trialsOf({ attack, order, isQuick }: TrialChoice): readonly Trial[] {
  const trials = (isQuick ? quickTrials : allTrials()).filter(
    ({ attack: name, situation }) =>
      name.includes(attack) && (order === undefined || situation.isFair === (order === 'fair')),
  );
  if (trials.length > 0) return trials;
  const names = attacks.map(({ name }) => `  ${name}`).join('\n');
  throw new TypeError(`No attack is called "${attack}". They are:\n${names}`);
}

/** Returns how the event sources of the lanes scale. */
export function scalingIn({ concurrency = 1_000 }: Situation): Stage['scalingOf'] {
  const { firstConcurrency, retryConcurrency, slowConcurrency } = lanePlaces(concurrency);
  return {
    first: standardScaling(firstConcurrency),
    retry: standardScaling(retryConcurrency),
    slow: standardScaling(slowConcurrency),
  };
}

function allTrials(): Trial[] {
  return attacks.flatMap(({ name, length }) =>
    [
      ...(length === undefined ? usualSituations : [inOrder]),
      ...(triedFurther.has(name) ? furtherSituations : []),
      ...(name === silentPuts ? [newAccount] : []),
    ].map(situation => ({ attack: name, situation })),
  );
}

const triedFurther = new Set([
  'hangs half of the time, 100/s',
  'always hangs, burst of 5,000',
  '50 accounts: always hangs, 1/s',
  '50 accounts: always hangs, 100 each every 10 s',
  '50 accounts: answers in 1.9 s, 100 each every 10 s',
]);
