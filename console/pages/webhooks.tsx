import type { DeliveryDetail } from '../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import type { DeliveryList } from '../api.ts';
import { Card, Code, Link, StateBadge, Table, Time, Unread } from '../components.tsx';
import { eventNames } from '../events.ts';
import { HealthBadge, HealthText, healthOf, isUntested } from '../health.tsx';
import { resultOf } from '../texts/texts.ts';
import { type Page, type Part, partOf, pathOf, useView, type View } from '../view.ts';
import { adviceOf } from './delivery.tsx';

/** Lists all events: the health of each webhook and its latest delivery, and what arrived without one. */
export async function webhooksPage({ api, t }: View): Promise<Page> {
  const { webhooks, eventos_sem_webhook } = await api.listWebhooks();
  const known = new Map(webhooks.map(webhook => [webhook.evento as string, webhook]));
  const rows = await Promise.all(
    [...new Set([...eventNames, ...known.keys()])].map(async (event): Promise<Row> => {
      const webhook = known.get(event);
      const droppedAt = eventos_sem_webhook.find(({ evento }) => evento === event)?.ultimo_em ?? null;
      const latest = await partOf(api.listDeliveries(event, { limite: 1 }));
      const id = latest.value?.entregas[0]?.id;
      const isFailing = webhook && healthOf(webhook) === 'failing' && id !== undefined;
      const detail = isFailing ? await partOf(api.findDelivery(event, id)) : undefined;
      return { event, webhook, droppedAt, latest, lastAttempt: detail?.value?.tentativas.at(-1) };
    }),
  );
  const missing = rows.filter(({ webhook }) => !webhook).length;
  const actions = missing > 0 && (
    <Link to="/register?evento=*" kind="button main">
      {t.webhooks.registerAll(missing)}
    </Link>
  );
  const content = (
    <>
      {missing === rows.length && (
        <p class="note">
          <Link to="/first-steps">{t.webhooks.noneYet}</Link>
        </p>
      )}
      <Verdict rows={rows} />
      <Card id="webhooks">
        <Table
          rows={rows}
          empty=""
          columns={[
            [t.webhooks.event, row => <EventCell row={row} />],
            [t.webhook.state, row => <HealthCell row={row} />],
            [t.webhooks.receiver, row => <ReceiverCell row={row} />],
            [t.webhooks.latest, row => <LatestCell row={row} />],
          ]}
        />
      </Card>
    </>
  );
  return { title: t.nav.webhooks, actions, content };
}

interface Row {
  readonly event: string;
  readonly webhook: WebhookRecord | undefined;
  readonly latest: Part<DeliveryList>;
  readonly droppedAt: string | null;
  /** Of the latest delivery, if the webhook is failing. */
  readonly lastAttempt: DeliveryDetail['tentativas'][number] | undefined;
}

function Verdict({ rows }: { rows: readonly Row[] }) {
  const { t } = useView();
  const unhealthy = rows.filter(row => (row.webhook ? healthOf(row.webhook) !== 'healthy' : row.droppedAt));
  const registered = rows.filter(({ webhook }) => webhook).length;
  const isWell =
    registered === rows.length &&
    unhealthy.length === 0 &&
    !rows.some(({ webhook, latest }) => webhook && isUntested(webhook, latest));
  return (
    <p class="verdict" id="verdict" data-live>
      {isWell ? t.webhooks.allHealthy(rows.length) : t.webhooks.counts(registered, rows.length)}{' '}
      {unhealthy.length > 0 && t.webhooks.unhealthy(unhealthy.map(({ event }) => event).join(', '))}
    </p>
  );
}

/** Writes the event, as a link if there is a webhook or history. */
function EventCell({ row: { event, webhook, latest } }: { row: Row }) {
  const hasPage =
    webhook || 'error' in latest || latest.value.entregas.length > 0 || latest.value.proximo_cursor !== null;
  return hasPage ? <Link to={pathOf(event)}>{event}</Link> : event;
}

function HealthCell({ row }: { row: Row }) {
  const { t } = useView();
  const { webhook, latest, lastAttempt } = row;
  if (!webhook) return <HealthBadge webhook={webhook} />;
  return (
    <>
      <HealthBadge webhook={webhook} isUntested={isUntested(webhook, latest)} />
      {lastAttempt && (
        <small class="block">
          {t.webhook.result}: <b>{resultOf(t, lastAttempt.resultado, lastAttempt.status)}</b>.{' '}
          {adviceOf(t, lastAttempt)}
        </small>
      )}
      <small class="block">
        <HealthText webhook={webhook} />
      </small>
    </>
  );
}

function ReceiverCell({ row: { event, webhook, droppedAt } }: { row: Row }) {
  const { t } = useView();
  if (webhook) return <Code>{webhook.url}</Code>;
  return (
    <>
      <Link to={`/register?evento=${encodeURIComponent(event)}`} kind="button">
        {t.webhooks.register}
      </Link>
      {droppedAt !== null && (
        <small class="block bad-text">
          {t.webhooks.dropped} <Time at={droppedAt} />
        </small>
      )}
    </>
  );
}

function LatestCell({ row: { latest } }: { row: Row }) {
  const { t } = useView();
  if ('error' in latest) return <Unread error={latest.error} />;
  const [delivery] = latest.value.entregas;
  if (!delivery) return <span class="muted">{t.webhooks.noDelivery}</span>;
  return (
    <>
      <StateBadge state={delivery.estado} /> <Time at={delivery.criado_em} />
    </>
  );
}
