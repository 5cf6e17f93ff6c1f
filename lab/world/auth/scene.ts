import type { VirtualCloud } from '@emissor/cloud/virtual';
import type { TokenResponse } from '../../../lambdas/auth/answers.ts';
import { CliError } from '../../../ops/stage/operator.ts';
import { makeRandom, type Random } from '../../../tools/support/random.ts';
import { type Commanded, type Endpoint, type Form, type Journal, type TokenRequest, tokensOf } from './journal.ts';
import type { Command } from './operators.ts';
import type { WorldClient, WorldUser } from './population.ts';
import type { Responded } from './token-functions.ts';

/** The actions of simulated users and operators. */
export type Scene = ReturnType<typeof makeScene>;

/** Creates the actions of simulated users and operators. Their code runs outside the virtual processes, exactly when scheduled. */
export function makeScene({ cloud, journal, seed }: SceneParts) {
  const failures: unknown[] = [];
  let people = 0;
  return { now: cloud.now, pause, until, enter, send, logIn, refresh, operate, failures: () => failures };

  function pause(milliseconds: number): Promise<void> {
    return until(cloud.now() + milliseconds);
  }

  function until(moment: number): Promise<void> {
    return new Promise(resolve => {
      cloud.at(moment, resolve);
    });
  }

  /** Starts a simulated user with a separate random number generator. */
  function enter(act: (random: Random) => Promise<void>): void {
    people += 1;
    const random = makeRandom(seed * 10_007 + people);
    pause(random() * 1_000)
      .then(() => act(random))
      .catch(error => failures.push(error));
  }

  /** Sends a request. Resolves when the sender has received the response, or when the process has crashed. */
  async function send(endpoint: Endpoint, form: Form, ip = '198.51.100.1'): Promise<TokenRequest> {
    await pause(latency);
    const request = journal.begin(endpoint, form, ip);
    await new Promise<void>(resolve => {
      cloud.function(endpoint).invoke({ requestId: request.id }, outcome => {
        request.endedAt = cloud.now();
        if (outcome.status === 'failed') failures.push(outcome.error);
        if (outcome.status === 'answered') request.answer = parseAnswer(outcome.result);
        resolve();
      });
    });
    await pause(latency);
    return request;
  }

  /** Logs a user in. Returns the tokens, or undefined if the login was not granted. */
  async function logIn(
    client: WorldClient,
    { email, password, scope }: Login,
    ip?: string,
  ): Promise<TokenResponse | undefined> {
    const form = { ...credentialsOf(client), grant_type: 'password', username: email, password };
    return tokensOf(await send('token', { ...form, ...(scope !== undefined && { scope }) }, ip));
  }

  async function refresh(client: WorldClient, token: string): Promise<TokenResponse | undefined> {
    const form = { ...credentialsOf(client), grant_type: 'refresh_token', refresh_token: token };
    return tokensOf(await send('token', form));
  }

  /** Runs an operator's command. Returns false if the command is rejected. A rejection fails the world unless `mayBeRefused`. */
  async function operate(command: Command, mayBeRefused = false): Promise<boolean> {
    const about = 'user' in command ? command.user.userId : command.client.clientId;
    const commanded: Commanded = { name: command.name, about, sentAt: cloud.now() };
    journal.commands.push(commanded);
    return new Promise(resolve => {
      cloud.function('operators').invoke(command, outcome => {
        commanded.endedAt = cloud.now();
        const isRefused = outcome.status === 'failed' && mayBeRefused && outcome.error instanceof CliError;
        if (isRefused)
          journal.commands.splice(journal.commands.indexOf(commanded), 1); // no change was made
        else if (outcome.status === 'failed') failures.push(outcome.error);
        resolve(!isRefused);
      });
    });
  }
}

/** Returns the fields that authenticate a client. */
export function credentialsOf({ clientId, clientSecret }: WorldClient): Form {
  return { client_id: clientId, client_secret: clientSecret };
}

interface SceneParts {
  readonly cloud: Pick<VirtualCloud, 'now' | 'at' | 'function'>;
  readonly journal: Pick<Journal, 'begin' | 'commands'>;
  readonly seed: number;
}

interface Login extends Pick<WorldUser, 'email' | 'password'> {
  readonly scope?: string;
}

/** The one-way latency between a sender and the gateway, in milliseconds. */
const latency = 15;

function parseAnswer(result: unknown) {
  const { answer }: Partial<Responded> = { ...(typeof result === 'object' && result) };
  return answer;
}
