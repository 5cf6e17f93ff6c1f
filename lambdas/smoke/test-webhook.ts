import { smokeAccount } from '../auth/principals/account.ts';
import type { Clock } from '../platform/clock.ts';
import { EVENT_NAMES, type EventName } from '../webhooks/webhook.ts';
import { useLimitMs } from './ending.ts';
import type { Registered, Service, Tokens } from './service.ts';
import { TestFinding } from './step-record.ts';

/** The receiver's URL, marked with the test: a webhook with another URL belongs to another test. */
export function withRunId(receiverUrl: string, runId: string): string {
  const url = new URL(receiverUrl);
  url.searchParams.set('run', runId);
  return url.href;
}

/** Removes the webhooks of tests that crashed. Those of tests that may be under way stay. Gives their events. */
export async function removeOldWebhooks(
  service: Service,
  { accessToken }: Tokens,
  now: Clock,
  signal: AbortSignal,
): Promise<readonly EventName[]> {
  const webhooks = await service.listWebhooks(accessToken, signal);
  const old = webhooks.filter(({ criado_em }) => Date.parse(criado_em) + useLimitMs < now());
  for (const { evento } of old) await service.deleteWebhook(accessToken, evento, signal);
  return old.map(({ evento }) => evento);
}

/** Registers for the first event that no other test has taken: an account has one webhook for each. */
export async function registerSomewhere(
  service: Service,
  { accessToken }: Tokens,
  webhook: { readonly url: string; readonly autorizacao: string },
  signal: AbortSignal,
): Promise<Registered> {
  for (const evento of EVENT_NAMES) {
    const registered = await service.register(accessToken, { evento, ...webhook }, signal);
    if (registered === undefined) continue;
    if (registered.estado === 'ativo') return registered;
    throw new TestFinding(
      `the webhook for ${evento} began suspended (${registered.motivo_suspensao})`,
      `"webhooks reactivate --account ${smokeAccount} --event ${evento}": an operator suspended it`,
    );
  }
  throw new TestFinding(
    `the account has a webhook for each of the ${EVENT_NAMES.length} events`,
    `whether so many tests run at once; try again in ${useLimitMs / 60_000} minutes`,
  );
}

/** Removes the test's webhook, also where nobody knows whether it was registered. */
export async function removeWebhook(
  service: Service,
  { accessToken }: Tokens,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const webhooks = await service.listWebhooks(accessToken, signal);
  for (const { evento } of webhooks.filter(webhook => webhook.url === url)) {
    await service.deleteWebhook(accessToken, evento, signal);
  }
}
