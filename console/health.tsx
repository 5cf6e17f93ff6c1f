import type { DeliveryRecord } from '../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../lambdas/webhooks/representation.ts';
import type { DeliveryList } from './api.ts';
import { textOf } from './texts/texts.ts';
import { timeFormats } from './times.ts';
import { type Part, useView } from './view.ts';

export type Health = 'healthy' | 'failing' | 'slow' | 'suspended';

/** Returns the worst that is true of a webhook: `ativo` alone says only that it is not suspended. */
export function healthOf({ estado, falhando_desde, lento_desde }: WebhookRecord): Health {
  if (estado === 'suspenso') return 'suspended';
  if (falhando_desde !== null) return 'failing';
  return lento_desde === null ? 'healthy' : 'slow';
}

export function HealthBadge({ webhook, isUntested }: { webhook: WebhookRecord | undefined; isUntested?: boolean }) {
  const { t } = useView();
  if (!webhook) return <span class="badge">{t.health.none}</span>;
  const health = healthOf(webhook);
  if (health === 'healthy' && isUntested) return <span class="badge">{t.health.untested}</span>;
  return <span class={`badge ${tones[health]}`}>{t.health[health]}</span>;
}

/** Writes since when a webhook fails or is slow, what that means, and what to do. When it was suspended is not kept. */
export function HealthText({ webhook }: { webhook: WebhookRecord }) {
  const { t, language } = useView();
  const since = (at: string | null) => timeFormats[language].exact.format(Date.parse(at ?? ''));
  const texts = {
    healthy: () => null,
    suspended: () => `${textOf(t.health.reasons, webhook.motivo_suspensao ?? '')} ${t.health.eventsAreHeld}`,
    failing: () => t.health.failingText(since(webhook.falhando_desde)),
    slow: () => t.health.slowText(since(webhook.lento_desde)),
  };
  return texts[healthOf(webhook)]();
}

/** Returns whether a delivery was for a registration, to within the clocks of queue and registration (0.5 s). */
export function isOf(webhook: WebhookRecord, { criado_em }: Pick<DeliveryRecord, 'criado_em'>): boolean {
  return Date.parse(criado_em) + 500 >= Date.parse(webhook.criado_em);
}

/** Returns whether there was no delivery since the registration, for certain. `latest` is a list of the latest one. */
export function isUntested(webhook: WebhookRecord, latest: Part<DeliveryList>): boolean {
  return latest.value !== undefined && !latest.value.entregas.some(one => isOf(webhook, one));
}

const tones = { healthy: 'good', failing: 'bad', slow: 'wait', suspended: 'held' } as const;
