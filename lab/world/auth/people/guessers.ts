import { pick, type Random } from '../../../../tools/support/random.ts';
import { second } from '../../times.ts';
import type { Actions } from '../actions.ts';
import type { WorldClient, WorldUser } from '../population.ts';

/** The strategies for guessing passwords. */
export const guessers = { guessSerially, guessConcurrently, guessAtAllClients, guessManyAddresses };

/** Guesses passwords sequentially from one IP address. */
async function guessSerially(actions: Actions, [client]: readonly WorldClient[], { email }: Target, random: Random) {
  for (let guess = 0; guess < 15 && client; guess += 1) {
    await actions.logIn(client, { email, password: `guess ${guess}` }, '203.0.113.7');
    await actions.pause(random() * 2 * second);
  }
}

/** Guesses passwords concurrently through one client from many IP addresses. One of the passwords is correct. */
async function guessConcurrently(actions: Actions, [client]: readonly WorldClient[], user: Target, random: Random) {
  const correctGuess = Math.floor(random() * 25);
  const guesses = Array.from({ length: 25 }, async (_, guess) => {
    await actions.pause(random() * 60);
    const password = guess === correctGuess ? user.password : `guess ${guess}`;
    if (client) await actions.logIn(client, { ...user, password }, `203.0.113.${guess}`);
  });
  await Promise.all(guesses);
}

/** Guesses passwords concurrently at all clients, more often than each client's lockout allows. */
async function guessAtAllClients(actions: Actions, clients: readonly WorldClient[], { email }: Target, random: Random) {
  const guesses = clients.flatMap(client =>
    Array.from({ length: 11 }, async (_, guess) => {
      await actions.pause(random() * 60);
      await actions.logIn(client, { email, password: `guess ${guess}` }, `203.0.113.${100 + guess}`);
    }),
  );
  await Promise.all(guesses);
}

/** Guesses passwords for many e-mail addresses through one client, three at a time. */
async function guessManyAddresses(actions: Actions, [client]: readonly WorldClient[], _: Target, random: Random) {
  for (let round = 0; round < 13 && client; round += 1) {
    const emails = [1, 2, 3].map(index => `nobody${3 * round + index}@nowhere.example`);
    await Promise.all(emails.map(email => actions.logIn(client, { email, password: 'none' }, '203.0.113.9')));
    await actions.pause(random() * second);
  }
}

/** Logs in or guesses twice through each client while an operator may unlock the user. Then guesses until the user is locked. */
export async function raceLogins(actions: Actions, clients: readonly WorldClient[], user: WorldUser, random: Random) {
  const logIn = async (client: WorldClient, isCorrect: boolean, pause = random() * 150) => {
    await actions.pause(pause);
    await actions.logIn(client, isCorrect ? user : { ...user, password: 'a guess' });
  };
  const unlock = async () => {
    await actions.pause(random() * 150);
    await actions.operate({ name: 'unlock', user });
  };
  const logins = [...clients, ...clients].map(client => logIn(client, random() < 0.3));
  await Promise.all([...logins, random() < 0.5 && unlock()]);
  for (const client of clients.slice(0, 1))
    for (let guess = 0; guess < 7; guess += 1) await logIn(client, guess === 6, 0);
}

type Target = Pick<WorldUser, 'email' | 'password'>;

/** Occasionally logs a user in with the correct password, at a random client, with all scopes or one scope. */
export async function logInOccasionally(
  actions: Actions,
  clients: readonly WorldClient[],
  user: WorldUser,
  random: Random,
  until: number,
) {
  while (actions.now() < until) {
    const scope = random() < 0.2 ? { scope: 'webhooks:read' } : {};
    await actions.logIn(pick(clients, random), { ...user, ...scope });
    await actions.pause(random() * 12 * second);
  }
}

/** Enters wrong passwords through each client, and then logs in through it. */
export async function mistypeThenLogIn(actions: Actions, clients: readonly WorldClient[], user: WorldUser) {
  for (const client of clients) {
    for (let time = 0; time < 4; time += 1) await actions.logIn(client, { ...user, password: 'mistyped' });
    await actions.logIn(client, user);
    await actions.logIn(client, { email: 'nobody@nowhere.example', password: 'none' });
  }
}
