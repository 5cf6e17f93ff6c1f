import { laneConcurrency } from '../../../lib/lane-concurrency.ts';
import type { Stage } from '../stage.ts';
import { attacks } from './attacks.ts';

/** The state of a stage when an attack starts. */
export interface Situation {
  readonly name: string;
  /** True if the queues are SQS fair queues. Otherwise, messages arrive in order. */
  readonly isFair: boolean;
  /** The AWS account's quota for concurrent executions. */
  readonly concurrency: number;
  /** The start of the attack, in milliseconds. If 0, all processes start cold. */
  readonly from: number;
}

/** A cold start, with messages in order of arrival. */
export const inOrder: Situation = { name: 'in order', isFair: false, concurrency: 1_000, from: 0 };

/** Fair queues, after 1 minute of steady load. */
const fair: Situation = { name: 'fair', isFair: true, concurrency: 1_000, from: 60_000 };

/** Fair queues in a new AWS account, which has 10 concurrent executions. */
export const newAccount: Situation = { ...fair, name: 'fair at 10', concurrency: 10 };

/** The situations in the contract ("Tenants are isolated"). */
export const situations: readonly Situation[] = [inOrder, fair, newAccount];

export interface Trial {
  readonly attack: string;
  readonly situation: Situation;
}

/** The duration of an attack, in milliseconds. */
export const attackLength = 180_000;

/** The trials of the gate. All use the same situation, so that they share one run of the healthy accounts alone. */
export const quickTrials: readonly Trial[] = [
  'always hangs, burst of 5,000',
  '50 accounts: responds in 1.9 s, 100 each every 10 s',
  'responds in 2.5 s, hangs after 90 s, 30/s',
].map(attack => ({ attack, situation: inOrder }));

export interface TrialChoice {
  /** A substring of the selected attacks' names. */
  readonly attack: string;
  /** The name of the selected situation, or `undefined` for all situations. */
  readonly situation: string | undefined;
  /** True for the three trials of the gate. */
  readonly isQuick: boolean;
}

/** Returns the selected trials. @throws {TypeError} if no trial is selected. */
export function trialsOf({ attack, situation, isQuick }: TrialChoice): readonly Trial[] {
  const trials = (isQuick ? quickTrials : allTrials()).filter(
    trial => trial.attack.includes(attack) && (situation === undefined || trial.situation.name === situation),
  );
  if (trials.length > 0) return trials;
  const names = attacks.map(({ name }) => `  ${name}`).join('\n');
  throw new TypeError(`No attack matches "${attack}". The attacks are:\n${names}`);
}

/** Returns the maximum number of concurrent batches, by lane. */
export function concurrencyIn({ concurrency }: Situation): Stage['concurrencyOf'] {
  const { firstConcurrency: first, retryConcurrency: retry, slowConcurrency: slow } = laneConcurrency(concurrency);
  return { first, retry, slow };
}

function allTrials(): Trial[] {
  return attacks.flatMap(({ name }) => situations.map(situation => ({ attack: name, situation })));
}
