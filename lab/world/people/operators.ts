import { makeRandom } from '../../../tools/support/random.ts';
import { type Account, lastRedrive } from '../arrival.ts';
import type { OperatorWork } from '../functions/operator.ts';
import { minute, second } from '../times.ts';

/** A scheduled command of an operator. */
export interface PlannedWork {
  /** The time of the command, in milliseconds after the start. */
  readonly at: number;
  readonly asked: OperatorWork;
}

/**
 * Returns the operators' commands. Operators suspend and reactivate the webhooks of two accounts, redrive dead-letter
 * messages, and may delete an account and create it again.
 */
export function planOperators(seed: number, restless: readonly Account[]): readonly PlannedWork[] {
  const random = makeRandom(seed * 3_571);
  const [one, other, deleted] = restless;
  return [
    ...[one, other].flatMap(account => (account ? suspensionsOf(account.id) : [])),
    ...(deleted && random() < 0.5 ? deletionOf(deleted.id) : []),
    ...[minute, lastRedrive].map(at => ({ at, asked: { work: 'redrive' } as const })),
  ];

  /** Returns alternating suspensions and reactivations. The last suspension may stay in effect. */
  function suspensionsOf(account: string): readonly PlannedWork[] {
    const works: PlannedWork[] = [];
    let at = random() * minute;
    do {
      works.push({ at, asked: { work: 'suspend', account } });
      at += (5 + random() * 90) * second;
      if (random() < 0.15) break;
      works.push({ at, asked: { work: 'reactivate', account } });
      at += random() * minute;
    } while (random() < 0.5);
    return works;
  }

  function deletionOf(account: string): readonly PlannedWork[] {
    const at = (0.5 + 3 * random()) * minute;
    return [
      { at, asked: { work: 'deleteAccount', account } },
      { at: at + 20 * second, asked: { work: 'admit', account } },
    ];
  }
}
