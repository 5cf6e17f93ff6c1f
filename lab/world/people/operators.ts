import { makeRandom } from '../../../tools/support/random.ts';
import { type Account, lastRedrive } from '../arrival.ts';
import type { OperatorCommand } from '../functions/operator.ts';
import { minute, second } from '../times.ts';

export interface ScheduledCommand {
  /** The time of the command, in milliseconds after the start. */
  readonly at: number;
  readonly command: OperatorCommand;
}

/**
 * Returns the operators' commands. Operators suspend and reactivate the webhooks of two accounts, redrive dead-letter
 * messages, and may delete an account and create it again.
 */
export function planOperators(seed: number, modified: readonly Account[]): readonly ScheduledCommand[] {
  const random = makeRandom(seed * 3_571);
  const [one, other, deleted] = modified;
  return [
    ...[one, other].flatMap(account => (account ? suspensionsOf(account.id) : [])),
    ...(deleted && random() < 0.5 ? deletionOf(deleted.id) : []),
    ...[minute, lastRedrive].map(at => ({ at, command: { name: 'redrive' } as const })),
  ];

  /** Returns alternating suspensions and reactivations. The last suspension may stay in effect. */
  function suspensionsOf(account: string): readonly ScheduledCommand[] {
    const commands: ScheduledCommand[] = [];
    let at = random() * minute;
    do {
      commands.push({ at, command: { name: 'suspend', account } });
      at += (5 + random() * 90) * second;
      if (random() < 0.15) break;
      commands.push({ at, command: { name: 'reactivate', account } });
      at += random() * minute;
    } while (random() < 0.5);
    return commands;
  }

  function deletionOf(account: string): readonly ScheduledCommand[] {
    const at = (0.5 + 3 * random()) * minute;
    return [
      { at, command: { name: 'deleteAccount', account } },
      { at: at + 20 * second, command: { name: 'createAccount', account } },
    ];
  }
}
