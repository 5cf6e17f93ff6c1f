import type { WebhookRecord } from '../lambdas/webhooks/representation.ts';
import { Time } from './components.tsx';
import { textOf } from './texts/texts.ts';
import { useView } from './view.ts';

export type Health = 'healthy' | 'failing' | 'slow' | 'suspended';

/** Returns the worst that is true of a webhook: `ativo` alone says only that it is not suspended. */
export function healthOf({ estado, falhando_desde, lento_desde }: WebhookRecord): Health {
  if (estado === 'suspenso') return 'suspended';
  if (falhando_desde !== null) return 'failing';
  return lento_desde === null ? 'healthy' : 'slow';
}

export function HealthBadge({ webhook }: { webhook: WebhookRecord | undefined }) {
  const { t } = useView();
  if (!webhook) return <span class="badge">{t.health.none}</span>;
  const health = healthOf(webhook);
  return <span class={`badge ${tones[health]}`}>{t.health[health]}</span>;
}

/** Writes since when a webhook fails or is slow, what that means, and what to do. When it was suspended is not kept. */
export function HealthText({ webhook }: { webhook: WebhookRecord }) {
  const { t } = useView();
  switch (healthOf(webhook)) {
    case 'healthy':
      return null;
    case 'suspended':
      return `${textOf(t.health.reasons, webhook.motivo_suspensao ?? '')} ${t.health.eventsAreHeld}`;
    case 'failing':
      return <Since at={webhook.falhando_desde}>{t.health.failingMeans}</Since>;
    case 'slow':
      return <Since at={webhook.lento_desde}>{t.health.slowMeans}</Since>;
  }
}

function Since({ at, children }: { at: string | null; children: string }) {
  return (
    <>
      {useView().t.health.since} <Time at={at} form="exact" />. {children}
    </>
  );
}

const tones = { healthy: 'good', failing: 'bad', slow: 'wait', suspended: 'held' } as const;
