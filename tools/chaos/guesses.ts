import { startAuthService } from '../../test/support/auth-service.ts';
import { guessAtOnce } from '../../test/support/guess-burst.ts';

/** Guesses of one user's password at the same moment, again and again, under the real hash. */
export interface GuessPlan {
  readonly bursts: number;
  /** At once, the right one among them at a random place. */
  readonly guesses: number;
  /** So many bursts may let the right one in: twice of what five tries in order would. */
  readonly mayGetIn: number;
}

/** What became of the guesses. */
export interface GuessReport {
  readonly letIn: number;
  /** Bursts after which the longest lock did not stand. */
  readonly withoutLock: number;
}

/** What the contract asks for: 20 of 200 at most, so 2 of 20; chance allows a few more in so few. */
export const guessPlan: GuessPlan = { bursts: 20, guesses: 100, mayGetIn: 5 };

/** Measures how far a burst of guesses outruns the lockout. */
export async function measureGuesses(plan: GuessPlan, say: (line: string) => void): Promise<GuessReport> {
  const service = await startAuthService();
  try {
    const client = await service.makeClient();
    const report = { letIn: 0, withoutLock: 0 };
    for (let burst = 0; burst < plan.bursts; burst++) {
      const { username, password, isIn } = await guessAtOnce(service, client, plan.guesses);
      if (isIn) report.letIn++;
      service.clock.advance(15 * 60_000 - 1);
      const form = { grant_type: 'password', client_id: client.id, client_secret: client.secret };
      const { status } = await service.post('token', { ...form, username, password });
      if (status === 200) report.withoutLock++;
      say(`${burst + 1} of ${plan.bursts} bursts, ${report.letIn} let in`);
    }
    return report;
  } finally {
    await service.stop();
  }
}

/** The report as people read it, and whether guessing got too far. */
export function describeGuesses({ letIn, withoutLock }: GuessReport, plan: GuessPlan) {
  const text =
    `${plan.bursts} bursts of ${plan.guesses} guesses at once: ${letIn} let the right one in (at most ${plan.mayGetIn}), ` +
    `after ${plan.bursts - withoutLock} the longest lock stood.`;
  return { text, isTooFar: letIn > plan.mayGetIn || withoutLock > 0 };
}
