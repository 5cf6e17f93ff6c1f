import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { Card, Code, Link, LoadError, StateBadge, Table, Time } from '../components.tsx';
import { eventNames } from '../events.ts';
import { HealthBadge, HealthText, readHealth, type WebhookHealth } from '../health.tsx';
import { type Page, pathOf, useView, type View } from '../view.ts';

export async function webhooksPage({ api, t, folder }: View): Promise<Page> {
  const { webhooks, eventos_sem_webhook } = await api.listWebhooks();
  const byEvent = new Map(webhooks.map(webhook => [webhook.evento as string, webhook]));
  const unsortedRows = await Promise.all(
    [...new Set([...eventNames, ...byEvent.keys()])].map(async (event): Promise<Row> => {
      const webhook = byEvent.get(event);
      const dropped = eventos_sem_webhook.find(({ evento }) => evento === event && !webhook);
      return { event, webhook, droppedAt: dropped?.ultimo_em, health: await readHealth(api, event, webhook) };
    }),
  );
  const order = ['slow', 'held', 'dropped', 'latestFailed', 'failing', 'suspended'];
  const urgencyOf = ({ droppedAt, health }: Row) => order.indexOf(droppedAt ? 'dropped' : health.status);
  const rows = unsortedRows.toSorted((one, other) => urgencyOf(other) - urgencyOf(one));
  const missing = rows.filter(({ webhook }) => !webhook).length;
  const isHealthy = rows.every(({ health }) => health.status === 'healthy');
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
      <p class="verdict" id="verdict" data-live>
        {isHealthy ? t.webhooks.allHealthy(rows.length) : t.webhooks.counts(rows.length - missing, rows.length)}{' '}
        {rows
          .filter(row => urgencyOf(row) >= 0)
          .map(({ event }, at) => (
            <>
              {at === 0 ? t.webhooks.unhealthy : ','} {/* Keyboard users reach these pages from the table. */}
              <a href={folder + pathOf(event)} tabindex={-1}>
                {event}
              </a>
            </>
          ))}
      </p>
      <Card id="webhooks">
        <Table
          rows={rows}
          columns={[
            [
              t.webhooks.event,
              ({ event, webhook, health }) => (
                <>
                  <div class="title">
                    {webhook || health.latest.value?.entregas.length !== 0 ? (
                      <Link to={pathOf(event)}>{event}</Link>
                    ) : (
                      event
                    )}{' '}
                    <HealthBadge health={health} />
                  </div>
                  {webhook && <HealthText webhook={webhook} health={health} />}
                </>
              ),
            ],
            [t.webhooks.receiver, row => <ReceiverCell {...row} />],
            [t.webhooks.latest, ({ health }) => <LatestCell {...health} />],
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
  readonly health: WebhookHealth;
  readonly droppedAt: string | undefined;
}

function ReceiverCell({ event, webhook, droppedAt }: Row) {
  const { t } = useView();
  if (webhook) return <Code>{webhook.url}</Code>;
  return (
    <>
      <Link to={`/register?evento=${encodeURIComponent(event)}`} kind="button">
        {t.webhooks.register}
      </Link>
      <DroppedEvent at={droppedAt} />
    </>
  );
}

export function DroppedEvent({ at }: { at: string | undefined }) {
  const { t } = useView();
  return (
    at !== undefined && (
      <p class="bad-text">
        {t.webhooks.dropped} <Time at={at} />
      </p>
    )
  );
}

function LatestCell({ latest }: WebhookHealth) {
  const { t } = useView();
  if ('error' in latest) return <LoadError error={latest.error} />;
  const [delivery] = latest.value.entregas;
  if (!delivery) return <span class="muted">{t.webhooks.noDelivery}</span>;
  return (
    <>
      <StateBadge state={delivery.estado} /> <Time at={delivery.criado_em} />
    </>
  );
}
