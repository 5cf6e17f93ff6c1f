import { composeRotateKeys } from '../../lambdas/auth/keys/rotate-keys.composition.ts';
import { makeEncryption } from '../../lambdas/platform/encryption.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { makeTelemetry } from '../../lambdas/platform/telemetry.ts';
import { secretBinding } from '../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore } from '../../lambdas/webhooks/webhook-store.ts';
import { makeAccountCreator } from './account-creator.ts';
import { type Account, eventName } from './arrival.ts';
import type { WorldRuntime } from './process-runtime.ts';
import type { Tokens } from './stage.ts';
import { day } from './times.ts';

/** Creates a function that fills the tables with the first keys, the accounts' admins, and the webhooks. */
export function makeSetUp(runtime: WorldRuntime, accounts: readonly Account[], tokens: Tokens): () => Promise<void> {
  const { dynamo, kms, time, random } = runtime;
  const rotateKeys = composeRotateKeys(keyRotation, runtime, makeTelemetry('rotate-keys', 'rotate-keys', time.now));
  const keyring = makeKeyring({ ...time, dynamo, kms, table: 'Keyring' });
  const encryption = makeEncryption(keyring, random);
  const webhooks = makeWebhookStore({ dynamo, table: 'Webhooks' });
  const accountCreator = makeAccountCreator(runtime, tokens);

  return async function setUp() {
    await rotateKeys();
    await accountCreator.addClient();
    for (const id of new Set(accounts.map(account => account.id))) await accountCreator.createAccount(id);
    for (const account of accounts) if (account.kind !== undefined) await register(account);
  };

  async function register({ id: accountId, host, event = eventName, failingFor }: Account): Promise<void> {
    const createdAt = time.now();
    const encrypted = await encryption.encrypt(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      secretBinding(accountId, event),
    );
    await webhooks.create({
      accountId,
      eventName: event,
      webhookId: webhookIdOf(host),
      url: `https://${host}/hooks`,
      secrets: [{ encrypted, createdAt }],
      status: 'active',
      suspensionReason: null,
      createdAt,
      updatedAt: createdAt,
      ...(failingFor !== undefined && earlierFailures(createdAt - failingFor, failingFor)),
    });
  }
}

/** Returns the failure fields of a webhook that fails before the start. The service notifies operators after 1 and 4 days. */
function earlierFailures(failingSince: number, failingFor: number) {
  const failingMark = [4, 1].map(days => days * day).find(mark => mark < failingFor);
  return { failingSince, ...(failingMark !== undefined && { failingMark, announcedSince: failingSince }) };
}

/** Returns the id of the webhook with the receiver at `host`. */
export function webhookIdOf(host: string): string {
  return `webhook-of-${host}`;
}

/** The settings for the key rotation that creates the first keys. */
export const keyRotation = {
  keyringTable: 'Keyring',
  keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/world',
  signingAlgorithm: 'ES256',
} as const;
