import { pick, type Random } from '../../../../tools/support/random.ts';
import { second } from '../../times.ts';
import type { WorldClient, WorldUser } from '../population.ts';
import type { Scene } from '../scene.ts';

/** The strategies for password guessing. */
export const guessers = { guessPatiently, guessAtOnce, guessEverywhere, guessWidely };

/** Guesses passwords sequentially from one IP address. */
async function guessPatiently(scene: Scene, [client]: readonly WorldClient[], { email }: Guessed, random: Random) {
  for (let guess = 0; guess < 15 && client; guess += 1) {
    await scene.logIn(client, { email, password: `guess ${guess}` }, '203.0.113.7');
    await scene.pause(random() * 2 * second);
  }
}

/** Guesses passwords concurrently at one client from many IP addresses. One of the passwords is correct. */
async function guessAtOnce(scene: Scene, [client]: readonly WorldClient[], user: Guessed, random: Random) {
  const right = Math.floor(random() * 25);
  const guesses = Array.from({ length: 25 }, async (_, guess) => {
    await scene.pause(random() * 60);
    const password = guess === right ? user.password : `guess ${guess}`;
    if (client) await scene.logIn(client, { ...user, password }, `203.0.113.${guess}`);
  });
  await Promise.all(guesses);
}

/** Guesses passwords concurrently at all clients, more often than each client's lockout allows. */
async function guessEverywhere(scene: Scene, clients: readonly WorldClient[], { email }: Guessed, random: Random) {
  const guesses = clients.flatMap(client =>
    Array.from({ length: 11 }, async (_, guess) => {
      await scene.pause(random() * 60);
      await scene.logIn(client, { email, password: `guess ${guess}` }, `203.0.113.${100 + guess}`);
    }),
  );
  await Promise.all(guesses);
}

/** Guesses passwords of many email addresses at one client, three at a time. */
async function guessWidely(scene: Scene, [client]: readonly WorldClient[], _: Guessed, random: Random) {
  for (let round = 0; round < 13 && client; round += 1) {
    const emails = [1, 2, 3].map(index => `nobody${3 * round + index}@nowhere.example`);
    await Promise.all(emails.map(email => scene.logIn(client, { email, password: 'none' }, '203.0.113.9')));
    await scene.pause(random() * second);
  }
}

/** Logs in or guesses twice at each client while an operator may unlock the user. Then guesses until the user is locked. */
export async function guessSideBySide(scene: Scene, clients: readonly WorldClient[], user: WorldUser, random: Random) {
  const logIn = async (client: WorldClient, isRight: boolean, pause = random() * 150) => {
    await scene.pause(pause);
    await scene.logIn(client, isRight ? user : { ...user, password: 'a guess' });
  };
  const unlock = async () => {
    await scene.pause(random() * 150);
    await scene.operate({ name: 'unlock', user });
  };
  const logins = [...clients, ...clients].map(client => logIn(client, random() < 0.3));
  await Promise.all([...logins, random() < 0.5 && unlock()]);
  for (const client of clients.slice(0, 1))
    for (let guess = 0; guess < 7; guess += 1) await logIn(client, guess === 6, 0);
}

type Guessed = Pick<WorldUser, 'email' | 'password'>;

/** Occasionally logs a user in with the correct password, at a random client, with all scopes or one scope. */
export async function visit(
  scene: Scene,
  clients: readonly WorldClient[],
  user: WorldUser,
  random: Random,
  until: number,
) {
  while (scene.now() < until) {
    const scope = random() < 0.2 ? { scope: 'webhooks:read' } : {};
    await scene.logIn(pick(clients, random), { ...user, ...scope });
    await scene.pause(random() * 12 * second);
  }
}

/** Enters wrong passwords and then logs in, at each client. */
export async function mistypeLater(scene: Scene, clients: readonly WorldClient[], user: WorldUser) {
  for (const client of clients) {
    for (let time = 0; time < 4; time += 1) await scene.logIn(client, { ...user, password: 'mistyped' });
    await scene.logIn(client, user);
    await scene.logIn(client, { email: 'nobody@nowhere.example', password: 'none' });
  }
}
