import { setTimeout as pause } from 'node:timers/promises';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { createUser } from '../../tools/support/accounts.ts';
import { demoOf, type LocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import type { ReceiverBehaviour } from './receiver-behaviours.ts';

/** An account's webhook for one event, or the lack of one. */
export interface Registration {
  readonly account: string;
  readonly eventName: EventName;
  readonly behaviour: ReceiverBehaviour;
  /** The host name of its receiver. */
  readonly host: string;
  readonly secret: string;
  readonly authorization: string;
  /** Deletes the webhook. */
  remove(): Promise<void>;
}

/** The webhooks that an account is to have: the behaviour of the receiver for each of its first events. */
export interface AccountPlan {
  readonly account: string;
  readonly behaviours: readonly ReceiverBehaviour[];
}

/** Returns the host name of the receiver of an account's nth webhook. */
export function hostOf(account: string, index: number): string {
  return `r${index}-${account}.example.com`;
}

/** Makes the accounts with an admin each and registers their webhooks over the API. */
export async function registerWebhooks(
  run: LocalRun,
  plans: readonly AccountPlan[],
  pathOf: (behaviour: ReceiverBehaviour) => string,
): Promise<readonly Registration[]> {
  const registrations: Registration[] = [];
  for (const { account, behaviours } of plans) {
    const call = await logInAdmin(run, account);
    const registered = behaviours.map(async (behaviour, index): Promise<Registration> => {
      const eventName = EVENT_NAMES[index];
      if (eventName === undefined) throw new Error('An account has no more events than there are.');
      const host = hostOf(account, index);
      const authorization = `Bearer ${randomId(30)}`;
      const remove = async () => void (await call('DELETE', `/v1/webhooks/${eventName}`, [204]));
      const registration = { account, eventName, behaviour, host, authorization, remove };
      if (behaviour.isUnregistered) return { ...registration, secret: '' };
      const input = { evento: eventName, url: `https://${host}${pathOf(behaviour)}`, autorizacao: authorization };
      const { json } = await call('POST', '/v1/webhooks', [201], input);
      return { ...registration, secret: String(json?.segredo) };
    });
    registrations.push(...(await Promise.all(registered)));
  }
  return registrations;
}

/** Makes an account with an admin. Returns a function that calls {base_url} in the admin's name. */
async function logInAdmin({ outputs, outputsFile }: LocalRun, account: string) {
  const { getTokens, callApi } = makeServiceClient(outputs);
  const { client } = demoOf(outputs);
  const { access_token: token } = await getTokens(passwordGrant(client, await createUser(outputsFile, { account })));
  return async function call(method: string, path: string, expected: readonly number[], body?: unknown) {
    for (let tries = 1; ; tries += 1) {
      const answer = await callApi(method, path, { token, ...(body !== undefined && { body }) });
      const { status, text } = answer;
      // A busy service is asked again, as it asks for. What it deleted before it said so is gone by then.
      if (expected.includes(status) || (tries > 1 && method === 'DELETE' && status === 404)) return answer;
      if (status !== 503 || tries === 5) throw new Error(`${method} ${path}: ${status} ${text}`);
      await pause(tries * 1_000);
    }
  };
}
