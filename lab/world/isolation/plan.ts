import { laneConcurrency } from '../../../lib/lane-concurrency.ts';
import type { Stage } from '../stage.ts';
import { attacks } from './attacks.ts';

/** The state of a stage when an attack starts. */
export interface Situation {
  readonly name: string;
  /** True if queues isolate accounts from each other's backlog. Otherwise messages arrive in order. */
  readonly isFair: boolean;
  /** The concurrent executions of the account. */
  readonly concurrency: number;
  /** The start of the attack, in milliseconds. At 0 no process runs yet. */
  readonly from: number;
}

/** A cold start with messages in order of arrival. */
export const inOrder: Situation = { name: 'in order', isFair: false, concurrency: 1_000, from: 0 };

/** Fair queues, after a minute of steady load. */
const fair: Situation = { name: 'fair', isFair: true, concurrency: 1_000, from: 60_000 };

/** Fair queues in a new AWS account, which has 10 concurrent executions. */
export const newAccount: Situation = { ...fair, name: 'fair at 10', concurrency: 10 };

/** The situations of the contract ("Tenants are isolated"). */
export const situations: readonly Situation[] = [inOrder, fair, newAccount];

/** An attack in a situation. */
export interface Trial {
  readonly attack: string;
  readonly situation: Situation;
}

/** Three minutes of attack, in milliseconds. */
export const attackLength = 180_000;

/** The trials of the gate, all in order of arrival, so that innocents run alone once. */
export const quickTrials: readonly Trial[] = [
  'always hangs, burst of 5,000',
  '50 accounts: answers in 1.9 s, 100 each every 10 s',
  'answers in 2.5 s, hangs after 90 s, 30/s',
].map(attack => ({ attack, situation: inOrder }));

/** The choice of trials. */
export interface TrialChoice {
  /** A part of the names of the selected attacks. */
  readonly attack: string;
  /** The name of the selected situation, or undefined for all. */
  readonly situation: string | undefined;
  /** True for the three trials of the gate. */
  readonly isQuick: boolean;
}

/** Returns the selected trials, by attack. @throws {TypeError} if the choice is empty. */
export function trialsOf({ attack, situation, isQuick }: TrialChoice): readonly Trial[] {
  const trials = (isQuick ? quickTrials : allTrials()).filter(
    trial => trial.attack.includes(attack) && (situation === undefined || trial.situation.name === situation),
  );
  if (trials.length > 0) return trials;
  const names = attacks.map(({ name }) => `  ${name}`).join('\n');
  throw new TypeError(`No attack is called "${attack}". They are:\n${names}`);
}

/** Returns the maximum concurrent batches of each lane. */
export function concurrencyIn({ concurrency }: Situation): Stage['concurrencyOf'] {
  const { firstConcurrency: first, retryConcurrency: retry, slowConcurrency: slow } = laneConcurrency(concurrency);
  return { first, retry, slow };
}

function allTrials(): Trial[] {
  return attacks.flatMap(({ name }) => situations.map(situation => ({ attack: name, situation })));
}
