import { randomInt } from 'node:crypto';
import { type AuthService, startAuthService } from '../../test/support/auth-service.ts';

/** Bursts of guesses at one user's password: all guesses of a burst at the same moment, under the real hash. */
export interface GuessSettings {
  readonly bursts: number;
  /** Guesses of a burst; the right one is at a random place among them. */
  readonly guesses: number;
  /** The most bursts that may let the right one in: twice what five tries one after the other would. */
  readonly mayGetIn: number;
}

/** The result of the guesses. */
export interface GuessReport {
  readonly letIn: number;
  /** Bursts after which the longest lock did not stand. */
  readonly withoutLock: number;
}

/** The contract allows 20 of 200, so 2 of 20; with so few bursts chance adds a few. */
export const guessRun: GuessSettings = { bursts: 20, guesses: 100, mayGetIn: 5 };

/**
 * Measures how many guesses get in before the lockout. The token function runs in this process, with a clock that can be
 * moved to the end of the lock.
 */
export async function measureGuesses(
  { bursts, guesses }: GuessSettings,
  say: (line: string) => void,
): Promise<GuessReport> {
  const service = await startAuthService();
  try {
    const client = await service.makeClient();
    const report = { letIn: 0, withoutLock: 0 };
    for (let burst = 0; burst < bursts; burst++) {
      const { username, password } = await service.makeUser();
      const logIn = (guess: string) => logInAs(service, client, username, guess);
      if (await isGuessed(guesses, password, logIn)) report.letIn++;
      service.clock.advance(longestLock - 1);
      if (await logIn(password)) report.withoutLock++;
      say(`${burst + 1} of ${bursts} bursts, ${report.letIn} let in`);
    }
    return report;
  } finally {
    await service.stop();
  }
}

/** Returns the report as text, and whether the lockout held. */
export function describeGuesses(
  { letIn, withoutLock }: GuessReport,
  { bursts, guesses, mayGetIn }: GuessSettings,
): { readonly text: string; readonly isHeld: boolean } {
  const text =
    `${bursts} bursts of ${guesses} guesses at once: ${letIn} let the right one in (at most ${mayGetIn}), ` +
    `after ${bursts - withoutLock} the longest lock stood.`;
  return { text, isHeld: letIn <= mayGetIn && withoutLock === 0 };
}

async function logInAs(
  service: AuthService,
  client: { readonly id: string; readonly secret: string },
  username: string,
  password: string,
): Promise<boolean> {
  const form = { grant_type: 'password', client_id: client.id, client_secret: client.secret };
  return (await service.post('token', { ...form, username, password })).status === 200;
}

/** Makes all guesses at once. */
async function isGuessed(guesses: number, password: string, logIn: (guess: string) => Promise<boolean>) {
  const right = randomInt(guesses);
  const answers = Array.from({ length: guesses }, (_, place) => logIn(place === right ? password : `wrong ${place}`));
  return (await Promise.all(answers)).includes(true);
}

/** In milliseconds. */
const longestLock = 15 * 60_000;
