import { randomId } from '../../lambdas/platform/identifiers.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { createUser } from '../../tools/support/accounts.ts';
import { demoOf, type LocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { type ReceiverBehaviour, receiverBehaviours } from './receiver-behaviours.ts';

/** An account, and the receiver of its webhooks. */
export interface PlannedAccount {
  readonly account: string;
  readonly behaviour: ReceiverBehaviour;
  readonly host: string;
}

/** A webhook that is registered. */
export interface Registration extends PlannedAccount {
  readonly eventName: EventName;
  readonly secret: string;
  readonly authorization: string;
}

/** Plans so many accounts for each behaviour of receivers. */
export function planAccounts(each: number): readonly PlannedAccount[] {
  return receiverBehaviours.flatMap((behaviour, index) =>
    Array.from({ length: each }, (_, number) => {
      const account = `chaos-${index}-${number}`;
      return { account, behaviour, host: `${account}.example.com` };
    }),
  );
}

/** Returns the hosts file of a run while webhooks are registered, when all names lead to receivers, and of the time after it. */
export function hostTables(plans: readonly PlannedAccount[], port: number) {
  const url = `http://127.0.0.1:${port}`;
  return {
    before: Object.fromEntries(plans.map(({ host }) => [host, url])),
    after: Object.fromEntries(
      plans.map(({ host, behaviour: { leadsTo, delays } }) => [host, leadsTo ?? { url, ...delays }]),
    ),
  };
}

/** Makes the accounts with an admin each and registers their webhooks over the API. */
export async function registerWebhooks(
  run: LocalRun,
  plans: readonly PlannedAccount[],
): Promise<readonly Registration[]> {
  const { getTokens, register } = makeServiceClient(run.outputs);
  const { client } = demoOf(run.outputs);
  const registrations: Registration[] = [];
  for (const plan of plans) {
    const { account, host, behaviour } = plan;
    const { access_token } = await getTokens(passwordGrant(client, await createUser(run.outputsFile, { account })));
    for (const eventName of EVENT_NAMES.slice(0, webhooksPerAccount)) {
      const authorization = `Bearer ${randomId(30)}`;
      const url = `https://${host}/${receiverBehaviours.indexOf(behaviour)}`;
      const secret = await register(access_token, { evento: eventName, url, autorizacao: authorization });
      registrations.push({ ...plan, eventName, secret, authorization });
    }
  }
  return registrations;
}

const webhooksPerAccount = 3;
