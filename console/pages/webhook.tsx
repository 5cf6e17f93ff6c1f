import type { Child } from 'hono/jsx';
import type { DeliveryDetail, DeliveryRecord } from '../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { Chart } from '../chart.tsx';
import { Alert, Button, Card, Code, Facts, Link, LoadError, StateBadge, Table, Time } from '../components.tsx';
import { countDeliveries, isTest } from '../count-deliveries.ts';
import { eventNames } from '../events.ts';
import { type Filter, filterOf, queryOf, spanOf, states, timesOf } from '../filter.ts';
import { HealthBadge, HealthText, readHealth, type WebhookHealth } from '../health.tsx';
import type { Texts } from '../texts/en.ts';
import { resultOf } from '../texts/texts.ts';
import { timeFormats } from '../times.ts';
import { type Handler, NotFound, type Part, partOf, pathOf, type Redirect, useView, type View } from '../view.ts';
import { ReplayCard } from './replay.tsx';
import { DroppedEvent } from './webhooks.tsx';

export const webhookPage: Handler = async ({ api, t, query, now, session }, { event }) => {
  const filter = filterOf(query);
  const lastReplay = session.replays[event];
  const webhook = await api.findWebhook(event);
  const [counted, list, health, replay, events] = await Promise.all([
    partOf(countDeliveries(api, event, spanOf(filter, now))),
    partOf(readList(api, event, filter, now)),
    readHealth(api, event, webhook),
    lastReplay && partOf(api.findReplay(event, lastReplay.id)),
    webhook ? undefined : partOf(api.listWebhooks()),
  ]);
  const isEmpty = list.value?.rows.length === 0 && list.value.next === null;
  const hasNone = isEmpty && queryOf(filter) === '';
  const dropped = events?.value?.eventos_sem_webhook.find(({ evento }) => evento === event);
  if (!webhook && isEmpty && !eventNames.includes(event)) throw new NotFound(t.failures.noWebhook);
  const isReplaying = replay?.value?.estado === 'em_andamento';
  const shownHealth = isReplaying && health.status === 'held' ? { ...health, status: 'untested' as const } : health;
  return {
    title: event,
    heading: (
      <>
        {event} <HealthBadge health={health} />
      </>
    ),
    actions: webhook ? (
      <Actions webhook={webhook} health={health} />
    ) : (
      <Link to={`/register?evento=${event}`} kind="button main">
        {t.webhooks.register}
      </Link>
    ),
    crumbs: [],
    content: (
      <>
        <a class="skip" href="#list">
          {t.webhook.deliveries}
        </a>
        {filter.invalid.length > 0 && <Alert>{`${t.failures.invalidFilters} ${filter.invalid.join(', ')}`}</Alert>}
        {replay?.value && <ReplayCard event={event} replay={replay.value} counted={lastReplay?.counted} />}
        {webhook ? (
          <Overview webhook={webhook} health={shownHealth} />
        ) : (
          <div class="note">
            {t.webhook.deleted} <DroppedEvent at={dropped?.ultimo_em} />
          </div>
        )}
        {events?.error !== undefined && <LoadError error={events.error} />}
        {replay?.error !== undefined && <LoadError error={replay.error} />}
        {!hasNone && <Chart event={event} filter={filter} counted={counted} />}
        <section class="card" id="list">
          <header>
            <h2>{t.webhook.deliveries}</h2>
            {webhook && <ReplayLink webhook={webhook} filter={filter} list={list} isReplaying={isReplaying} />}
          </header>
          {!hasNone && <StateChoice event={event} filter={filter} />}
          <div id="deliveries" data-live>
            {'error' in list ? (
              <LoadError error={list.error} />
            ) : (
              <Deliveries event={event} filter={filter} list={list.value} webhook={webhook} />
            )}
          </div>
        </section>
      </>
    ),
  };
};

export const test: Handler = async ({ api, t }, { event }) => {
  const { id } = await api.test(event);
  return { to: pathOf(event, id), notes: [{ kind: 'done', text: t.webhook.tested }] };
};

export const reactivate: Handler = async ({ api, t }, { event }) => {
  await api.reactivate(event);
  return reactivated(t, event);
};

export function reactivated({ webhook: t }: Texts, event: string): Redirect {
  return { to: `${pathOf(event)}?state=retida`, notes: [{ kind: 'done', text: t.reactivated }] };
}

interface List {
  readonly rows: readonly { readonly record: DeliveryRecord; readonly detail: DeliveryDetail | undefined }[];
  readonly next: string | null;
}

async function readList(api: View['api'], event: string, filter: Filter, now: number): Promise<List> {
  const { state, cursor } = filter;
  const page = await api.listDeliveries(event, { estado: state, ...timesOf(filter, now), cursor, limite: 20 });
  const details = await Promise.all(page.entregas.map(({ id }) => partOf(api.findDelivery(event, id))));
  const rows = page.entregas.map((record, at) => ({ record, detail: details[at]?.value }));
  return { rows, next: page.proximo_cursor };
}

function Actions({ webhook, health }: { webhook: WebhookRecord; health: WebhookHealth }) {
  const { t } = useView();
  const path = pathOf(webhook.evento);
  const isByOperator = webhook.motivo_suspensao === 'operador';
  const links = { change: t.webhook.change, secret: t.webhook.replaceSecret, delete: t.webhook.remove };
  const isTestNext = ['failing', 'latestFailed', 'untested'].includes(health.status);
  return (
    <>
      {!isByOperator && (
        <Button action={`${path}/test`} kind={isTestNext && 'main'}>
          {t.webhook.test}
        </Button>
      )}
      {health.status === 'suspended' && !isByOperator && (
        <Button action={`${path}/reactivate`} kind="main">
          {t.webhook.reactivate}
        </Button>
      )}
      {Object.entries(links).map(([step, name]) => (
        <Link to={`${path}/${step}`} kind={step === 'delete' ? 'button danger' : 'button'}>
          {name}
        </Link>
      ))}
    </>
  );
}

function Overview({ webhook, health }: { webhook: WebhookRecord; health: WebhookHealth }) {
  const { t } = useView();
  return (
    <Card id="overview">
      <HealthText webhook={webhook} health={health} />
      <Facts
        rows={[
          [t.webhooks.receiver, <Code>{webhook.url}</Code>],
          authorizationOf(t, webhook),
          [t.webhook.registered, <Time at={webhook.criado_em} />],
          ...oldSecretsOf(t, webhook),
        ]}
      />
    </Card>
  );
}

export function authorizationOf({ webhook: t }: Texts, { autorizacao_definida }: WebhookRecord) {
  return [t.authorization, autorizacao_definida ? t.set : t.notSet] as const;
}

export function oldSecretsOf({ webhook: t }: Texts, { segredos_anteriores }: WebhookRecord) {
  return segredos_anteriores.map(({ valido_ate }) => [t.oldSecrets, <Time at={valido_ate} form="exact" />] as const);
}

function ReplayLink(link: { webhook: WebhookRecord; filter: Filter; list: Part<List>; isReplaying: boolean }) {
  const { t } = useView();
  const { webhook, filter, list, isReplaying } = link;
  if (isReplaying || (filter.state !== 'falhou' && filter.state !== 'retida')) return null;
  if (list.value?.next === null && list.value.rows.every(({ record }) => isTest(record.id))) return null;
  if (webhook.estado === 'suspenso') return <p>{t.webhook.reactivateFirst}</p>;
  const path = `${pathOf(webhook.evento)}/replay${queryOf({ ...filter, cursor: undefined })}`;
  return (
    <Link to={path} kind="button main">
      {t.webhook.replayThese}
    </Link>
  );
}

function StateChoice({ event, filter }: { event: string; filter: Filter }) {
  const { t, language } = useView();
  const { state, range, since, until } = filter;
  const to = (chosen: Partial<Filter>) => `${pathOf(event)}${queryOf(chosen)}#list`;
  const format = timeFormats[language].minute;
  const span = [since, until].map(time => (time === undefined ? '…' : format.format(time))).join(' – ');
  return (
    <nav class="chips inside" aria-label={t.webhook.state}>
      {[undefined, ...states].map(one => (
        <Link to={to({ state: one, range, since, until })} kind="chip" isChosen={state === one}>
          {one === undefined ? t.webhook.allStates : t.states[one]}
        </Link>
      ))}
      {(since !== undefined || until !== undefined) && (
        <Link to={to({ state, range })} kind="chip" isChosen>
          {span} ✕<span class="unseen"> {t.webhook.clearTime}</span>
        </Link>
      )}
    </nav>
  );
}

function Deliveries(deliveries: { event: string; filter: Filter; list: List; webhook: WebhookRecord | undefined }) {
  const { t } = useView();
  const { event, filter, list, webhook } = deliveries;
  const { rows, next } = list;
  const isFiltered = queryOf({ ...filter, cursor: undefined }) !== '';
  const none = webhook ? t.webhook.none : t.webhooks.noDelivery;
  const empty = next !== null ? t.webhook.nonePage : isFiltered ? t.webhook.noneMatch : none;
  const unreadCount = rows.filter(({ detail }) => !detail).length;
  const to = (cursor: string | undefined) => `${pathOf(event)}${queryOf({ ...filter, cursor })}#list`;
  return (
    <>
      {unreadCount > 0 && <p class="note failed inside">{t.webhook.unreadDetails(unreadCount)}</p>}
      <Table
        rows={rows}
        empty={empty}
        columns={[
          [t.webhook.demand, row => <DeliveryLink event={event} row={row} />],
          [t.webhook.proposal, row => numberIn(row.detail, 'id_proposta')],
          [t.webhook.state, ({ record }) => <StateBadge state={record.estado} />],
          [t.webhook.result, ({ record }) => resultOf(t, record.ultimo_resultado, record.ultimo_status), 'result'],
          [t.webhook.accepted, ({ record }) => <Time at={record.criado_em} />, 'time'],
          [t.webhook.attempts, ({ record }) => record.tentativas, 'number'],
          [t.webhook.next, ({ record }) => nextAttemptOf(record), 'more'],
          ['Id', ({ record }) => <span class="id">{record.id}</span>, 'more'],
        ]}
      />
      {(filter.cursor || next) && (
        <p class="inside actions">
          {filter.cursor && <Link to={to(undefined)}>{t.webhook.newest}</Link>}
          {next !== null && <Link to={to(next)}>{t.webhook.older}</Link>}
        </p>
      )}
    </>
  );
}

function DeliveryLink({ event, row: { record, detail } }: { event: string; row: List['rows'][number] }) {
  const demand = numberIn(detail, 'id_demanda');
  const name = isTest(record.id) ? useView().t.webhook.testShort : demand;
  return <Link to={pathOf(event, record.id)}>{name === '–' ? <span class="id">{record.id}</span> : name}</Link>;
}

export function nextAttemptOf({ proxima_tentativa_em: at }: Pick<DeliveryRecord, 'proxima_tentativa_em'>): Child {
  if (at === null) return '–';
  return Date.parse(at) <= useView().now ? useView().t.webhook.due : <Time at={at} />;
}

export function numberIn(detail: DeliveryDetail | undefined, name: 'id_demanda' | 'id_proposta'): string {
  try {
    const value: unknown = JSON.parse(detail?.corpo ?? '{}')[name];
    return value === undefined ? '–' : String(value);
  } catch {
    return '–';
  }
}
