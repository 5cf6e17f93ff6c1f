import { rotated } from '../../tools/support/statistics.ts';
import { type Attack, attacks } from './attacks.ts';

/** The order in which the local queues hand messages out; see `--queue-order`. */
export type QueueOrder = (typeof queueOrders)[number];

/** A local run of its own, with the attacks that are measured in it, one after the other. */
export interface PlannedRun {
  /** From 1. */
  readonly round: number;
  readonly order: QueueOrder;
  readonly attacks: readonly Attack[];
}

/** Plans `rounds` runs in each order of the queues. As many attacks as possible come first in one of them. */
export function planRuns(chosen: readonly Attack[], rounds: number): readonly PlannedRun[] {
  const total = rounds * queueOrders.length;
  return Array.from({ length: total }, (_, index) => {
    const round = Math.floor(index / queueOrders.length);
    const order = rotated(queueOrders, round)[index % queueOrders.length] as QueueOrder;
    const first = Math.floor((index * chosen.length) / total);
    return { round: round + 1, order, attacks: rotated(chosen, first) };
  });
}

/**
 * The attacks whose name contains a text.
 *
 * @throws {TypeError} with all names when there is none.
 */
export function attacksNamed(part: string): readonly Attack[] {
  const chosen = attacks.filter(({ name }) => name.includes(part));
  if (chosen.length > 0) return chosen;
  throw new TypeError(`No attack is called "${part}". They are:\n${attacks.map(({ name }) => name).join('\n')}`);
}

const queueOrders = ['fair', 'arrival'] as const;
