import type { DeliveryDetail, DeliveryRecord } from '../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../lambdas/webhooks/representation.ts';
import type { Api, DeliveryList } from './api.ts';
import { Link } from './components.tsx';
import { adviceOf, resultOf, textOf } from './texts/texts.ts';
import { timeFormats } from './times.ts';
import { type Part, partOf, pathOf, useView } from './view.ts';

const tones = {
  suspended: 'held',
  failing: 'bad',
  latestFailed: 'bad',
  slow: 'wait',
  held: 'held',
  unknown: 'wait',
  untested: '',
  healthy: 'good',
  none: '',
} as const;

export interface WebhookHealth {
  readonly status: keyof typeof tones;
  readonly latest: Part<DeliveryList>;
  readonly failed: DeliveryDetail | undefined;
}

/** The results that do not reflect the receiver's health. The service retries `lenta`, and `interno` is its own error. */
const indecisiveResults: readonly (string | null)[] = [null, 'lenta', 'interno'];

export async function readHealth(api: Api, event: string, webhook: WebhookRecord | undefined): Promise<WebhookHealth> {
  const latest = await partOf(api.listDeliveries(event, { limite: 10 }));
  const own = latest.value?.entregas.filter(one => webhook && belongsTo(webhook, one));
  const decisive = own?.find(one => one.estado === 'falhou' || !indecisiveResults.includes(one.ultimo_resultado));
  const result = determine();
  const isActive = webhook?.estado === 'ativo' && tones[result] !== 'bad';
  const held = isActive ? await partOf(api.listDeliveries(event, { estado: 'retida', limite: 1 })) : undefined;
  const hasHeld = held?.value?.entregas.some(one => webhook && one.estado === 'retida' && belongsTo(webhook, one));
  const status = hasHeld ? 'held' : held?.error !== undefined ? 'unknown' : result;
  const isBad = decisive && tones[status] === 'bad';
  return { status, latest, failed: isBad ? (await partOf(api.findDelivery(event, decisive.id))).value : undefined };

  function determine(): WebhookHealth['status'] {
    if (!webhook) return 'none';
    if (webhook.estado === 'suspenso') return 'suspended';
    if (webhook.falhando_desde !== null) return 'failing';
    if (decisive && decisive.ultimo_resultado !== 'entregue') return 'latestFailed';
    if (webhook.lento_desde !== null) return 'slow';
    return decisive ? 'healthy' : latest.value ? 'untested' : 'unknown';
  }
}

export function HealthBadge({ health: { status } }: { health: WebhookHealth }) {
  return <span class={`badge ${tones[status]}`}>{useView().t.health[status]}</span>;
}

export function HealthText({ webhook, health }: { webhook: WebhookRecord; health: WebhookHealth }) {
  const { t, language, path } = useView();
  const { status, failed } = health;
  const last = failed?.tentativas.at(-1);
  const format = (at: string | null, days = 0) =>
    timeFormats[language].exact.format(Date.parse(at ?? '') + days * 86_400_000);
  const { falhando_desde: failing, lento_desde: slow, motivo_suspensao: reason } = webhook;
  const meaning = {
    suspended: () => `${textOf(t.health.reasons, reason ?? '')} ${t.health.eventsAreHeld}`,
    failing: () => t.health.failingText(format(failing), format(failing, 5)),
    slow: () => t.health.slowText(format(slow)),
    held: () => <Link to={`${pathOf(webhook.evento)}?state=retida#list`}>{t.health.heldText}</Link>,
  };
  return (
    <div class="health">
      {last && (
        <p>
          {t.webhook.result}: <b>{resultOf(t, last.resultado, last.status)}</b>. {adviceOf(t, last)}{' '}
          {path !== '/' && <Link to={pathOf(webhook.evento, failed?.id)}>{t.steps.seeDelivery}</Link>}
        </p>
      )}
      {Object.hasOwn(meaning, status) && <p>{meaning[status as keyof typeof meaning]()}</p>}
    </div>
  );
}

/** Returns true if a delivery belongs to the current registration. Tolerates a clock difference of 0.5 s. */
export function belongsTo(webhook: WebhookRecord, { criado_em }: Pick<DeliveryRecord, 'criado_em'>): boolean {
  return Date.parse(criado_em) + 500 >= Date.parse(webhook.criado_em);
}
