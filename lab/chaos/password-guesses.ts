import { randomInt } from 'node:crypto';
import { startAuthService } from '../../test/support/auth-service.ts';

/** Bursts at one user's password each: all guesses of a burst at the same moment, the right one at a random place among them. */
const bursts = 20;
const guesses = 100;

/**
 * The most bursts that may let the right guess in. Five tries one after the other would get in once in 20 bursts, and the contract
 * allows twice that; with so few bursts chance adds a few.
 */
const mayGetIn = 5;

/**
 * Measures how many guesses get in before the lockout. The token function runs in this process, under the real hash, with a clock
 * that can be moved to the end of the lock.
 *
 * @returns the bursts that let the right guess in, and those after which the longest lock did not stand.
 */
export async function measureGuesses(say: (line: string) => void) {
  const service = await startAuthService();
  try {
    const client = await service.makeClient();
    const report = { letIn: 0, withoutLock: 0 };
    for (let burst = 1; burst <= bursts; burst++) {
      const { username, password } = await service.makeUser();
      const form = { grant_type: 'password', client_id: client.id, client_secret: client.secret, username };
      const logIn = async (guess: string) => (await service.post('token', { ...form, password: guess })).status === 200;
      const right = randomInt(guesses);
      const answers = Array.from({ length: guesses }, (_, place) =>
        logIn(place === right ? password : `wrong ${place}`),
      );
      if ((await Promise.all(answers)).includes(true)) report.letIn++;
      service.clock.advance(longestLock - 1);
      if (await logIn(password)) report.withoutLock++;
      say(`${burst} of ${bursts} bursts, ${report.letIn} let in`);
    }
    return report;
  } finally {
    await service.stop();
  }
}

/** Returns the report as text, and whether the lockout held. */
export function describeGuesses({ letIn, withoutLock }: Awaited<ReturnType<typeof measureGuesses>>) {
  const text =
    `${bursts} bursts of ${guesses} guesses at once: ${letIn} let the right one in (at most ${mayGetIn}), ` +
    `after ${bursts - withoutLock} the longest lock stood.`;
  return { text, isHeld: letIn <= mayGetIn && withoutLock === 0 };
}

/** In milliseconds. */
const longestLock = 15 * 60_000;
