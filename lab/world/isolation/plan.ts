import { attacks } from './attacks.ts';
import { furtherSituations, inOrder, type Situation, usualSituations } from './situations.ts';

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

/** What is tried. */
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

function allTrials(): Trial[] {
  return attacks.flatMap(({ name }) =>
    [...usualSituations, ...(triedFurther.has(name) ? furtherSituations : [])].map(situation => ({
      attack: name,
      situation,
    })),
  );
}

const triedFurther = new Set([
  'hangs half of the time, 100/s',
  'always hangs, burst of 5,000',
  '50 accounts: always hangs, 1/s',
  '50 accounts: always hangs, 100 each every 10 s',
  '50 accounts: answers in 1.9 s, 100 each every 10 s',
]);
