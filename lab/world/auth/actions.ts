import type { VirtualCloud } from '@emissor/cloud/virtual';
import type { TokenResponse } from '../../../lambdas/auth/responses.ts';
import { CliError } from '../../../ops/stage/operator.ts';
import { makeRandom, type Random } from '../../../tools/support/random.ts';
import { type CommandRecord, type Endpoint, type Form, type Journal, type TokenRequest, tokensOf } from './journal.ts';
import type { Command } from './operators.ts';
import type { WorldClient, WorldUser } from './population.ts';
import type { FunctionResult } from './token-functions.ts';

/** The actions of simulated users and operators. */
export type Actions = ReturnType<typeof makeActions>;

/** Creates the actions. They run outside the virtual processes, exactly when scheduled. */
export function makeActions({ cloud, journal, seed }: ActionsParts) {
  const failures: unknown[] = [];
  let users = 0;
  return { now: cloud.now, pause, until, startUser, send, logIn, refresh, operate, failures: () => failures };

  function pause(milliseconds: number): Promise<void> {
    return until(cloud.now() + milliseconds);
  }

  function until(moment: number): Promise<void> {
    return new Promise(resolve => {
      cloud.at(moment, resolve);
    });
  }

  /** Starts a simulated user with a separate random number generator. */
  function startUser(act: (random: Random) => Promise<void>): void {
    users += 1;
    const random = makeRandom(seed * 10_007 + users);
    pause(random() * 1_000)
      .then(() => act(random))
      .catch(error => failures.push(error));
  }

  /** Sends a request. Resolves when the sender has received the response, or when the process has crashed. */
  async function send(endpoint: Endpoint, form: Form, ip = '198.51.100.1'): Promise<TokenRequest> {
    await pause(latency);
    const request = journal.addRequest(endpoint, form, ip);
    await new Promise<void>(resolve => {
      cloud.function(endpoint).invoke({ requestId: request.id }, outcome => {
        request.endedAt = cloud.now();
        if (outcome.status === 'failed') failures.push(outcome.error);
        if (outcome.status === 'returned') request.response = parseResponse(outcome.result);
        resolve();
      });
    });
    await pause(latency);
    return request;
  }

  /** Logs a user in. Returns the tokens, or `undefined` if the login was not granted. */
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

  /** Runs an operator's command. Returns false if the command is rejected. A rejection fails the world unless `mayBeRejected` is true. */
  async function operate(command: Command, mayBeRejected = false): Promise<boolean> {
    const subjectId = 'user' in command ? command.user.userId : command.client.clientId;
    const record: CommandRecord = { name: command.name, subjectId, sentAt: cloud.now() };
    journal.commands.push(record);
    return new Promise(resolve => {
      cloud.function('operators').invoke(command, outcome => {
        record.endedAt = cloud.now();
        const isRejected = outcome.status === 'failed' && mayBeRejected && outcome.error instanceof CliError;
        if (isRejected)
          journal.commands.splice(journal.commands.indexOf(record), 1); // no change was made
        else if (outcome.status === 'failed') failures.push(outcome.error);
        resolve(!isRejected);
      });
    });
  }
}

/** Returns the fields that authenticate a client. */
export function credentialsOf({ clientId, clientSecret }: WorldClient): Form {
  return { client_id: clientId, client_secret: clientSecret };
}

interface ActionsParts {
  readonly cloud: Pick<VirtualCloud, 'now' | 'at' | 'function'>;
  readonly journal: Pick<Journal, 'addRequest' | 'commands'>;
  readonly seed: number;
}

interface Login extends Pick<WorldUser, 'email' | 'password'> {
  readonly scope?: string;
}

/** The one-way latency between a sender and the gateway, in milliseconds. */
const latency = 15;

function parseResponse(result: unknown) {
  const { response }: Partial<FunctionResult> = { ...(typeof result === 'object' && result) };
  return response;
}
