import { randomInt } from 'node:crypto';
import type { AuthService } from './auth-service.ts';

/** What became of guesses that were all made at the same moment. */
export interface GuessBurst {
  readonly username: string;
  readonly password: string;
  /** The place of the right one among them. */
  readonly right: number;
  /** Whether it was let in. */
  readonly isIn: boolean;
}

/** Guesses a new user's password so many times at once through one client, with the right one at a random place. */
export async function guessAtOnce(
  service: AuthService,
  client: { readonly id: string; readonly secret: string },
  guesses: number,
): Promise<GuessBurst> {
  const { username, password } = await service.makeUser();
  const right = randomInt(guesses);
  const login = (guess: string) =>
    service.post('token', {
      grant_type: 'password',
      client_id: client.id,
      client_secret: client.secret,
      username,
      password: guess,
    });
  const answers = await Promise.all(
    Array.from({ length: guesses }, (_, place) => login(place === right ? password : `wrong ${place}`)),
  );
  return { username, password, right, isIn: answers.some(({ status }) => status === 200) };
}
