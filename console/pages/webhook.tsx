import type { DeliveryDetail, DeliveryRecord } from '../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { Chart } from '../chart.tsx';
import { Alert, Button, Card, Code, Facts, Link, StateBadge, Table, Time, Unread } from '../components.tsx';
import { eventNames } from '../events.ts';
import { type Filter, filterOf, queryOf, spanOf, states, timesOf } from '../filter.ts';
import { HealthBadge, HealthText, isUntested } from '../health.tsx';
import { isTest, tally } from '../tally.ts';
import type { Texts } from '../texts/en.ts';
import { resultOf } from '../texts/texts.ts';
import { timeFormats } from '../times.ts';
import { type Handler, NotFound, partOf, pathOf, useView, type View } from '../view.ts';
import { ReplayCard } from './replay.tsx';

/** Shows a webhook: its health, its volume, and its deliveries by state and time. */
export const webhookPage: Handler = async ({ api, t, query, now, session }, { event }) => {
  const filter = filterOf(query);
  const replayed = session.replays[event];
  const [webhook, counted, list, latest, replay] = await Promise.all([
    api.findWebhook(event),
    partOf(tally(api, event, spanOf(filter, now))),
    partOf(readList(api, event, filter, now)),
    partOf(api.listDeliveries(event, { limite: 1 })),
    replayed && partOf(api.findReplay(event, replayed.id)),
  ]);
  const isEmpty = list.value?.rows.length === 0 && list.value.next === null;
  if (!webhook && isEmpty && !eventNames.includes(event)) throw new NotFound(t.failures.noWebhook);
  return {
    title: event,
    heading: (
      <>
        {event} {webhook && <HealthBadge webhook={webhook} isUntested={isUntested(webhook, latest)} />}
      </>
    ),
    actions: webhook ? (
      <Actions webhook={webhook} />
    ) : (
      <Link to={`/register?evento=${event}`} kind="button main">
        {t.webhooks.register}
      </Link>
    ),
    crumbs: [],
    content: (
      <>
        <a class="skip" href="#list">
          {t.webhook.skip}
        </a>
        {filter.unknown.length > 0 && (
          <Alert>
            {t.failures.someUnknown} <Code>{filter.unknown.join(', ')}</Code>
          </Alert>
        )}
        {webhook ? <Overview webhook={webhook} /> : <p class="note">{t.webhook.deleted}</p>}
        {replay?.error !== undefined && <Unread error={replay.error} />}
        {replay?.value && <ReplayCard event={event} replay={replay.value} counted={replayed?.counted} />}
        <Chart event={event} filter={filter} counted={counted} />
        <section class="card" id="list">
          <header>
            <h2>{t.webhook.deliveries}</h2>
            {webhook && !isEmpty && <ReplayLink webhook={webhook} filter={filter} />}
          </header>
          <StateChoice event={event} filter={filter} />
          <div id="deliveries" data-live>
            {'error' in list ? (
              <Unread error={list.error} />
            ) : (
              <Deliveries event={event} filter={filter} list={list.value} />
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
  return { to: `${pathOf(event)}?state=retida`, notes: [{ kind: 'done', text: t.webhook.reactivated }] };
};

interface List {
  /** `detail` is `undefined` if it could not be read. */
  readonly rows: readonly { readonly record: DeliveryRecord; readonly detail: DeliveryDetail | undefined }[];
  readonly next: string | null;
}

/** Reads a page of the list, and the details of each delivery for the numbers in its body. */
async function readList(api: View['api'], event: string, filter: Filter, now: number): Promise<List> {
  const { state, cursor } = filter;
  const page = await api.listDeliveries(event, { estado: state, ...timesOf(filter, now), cursor, limite: 20 });
  const details = await Promise.all(page.entregas.map(({ id }) => partOf(api.findDelivery(event, id))));
  const rows = page.entregas.map((record, at) => {
    const detail = details[at];
    return { record, detail: detail?.value };
  });
  return { rows, next: page.proximo_cursor };
}

function Actions({ webhook: { evento, estado, motivo_suspensao } }: { webhook: WebhookRecord }) {
  const { t } = useView();
  const path = pathOf(evento);
  const isSuspended = estado === 'suspenso';
  const isByOperator = isSuspended && motivo_suspensao === 'operador';
  return (
    <>
      {isSuspended && !isByOperator && (
        <Button action={`${path}/reactivate`} kind="main">
          {t.webhook.reactivate}
        </Button>
      )}
      {!isByOperator && <Button action={`${path}/test`}>{t.webhook.test}</Button>}
      <Link to={`${path}/change`} kind="button">
        {t.webhook.change}
      </Link>
      <Link to={`${path}/secret`} kind="button">
        {t.webhook.replaceSecret}
      </Link>
      <Link to={`${path}/delete`} kind="button danger">
        {t.webhook.remove}
      </Link>
    </>
  );
}

function Overview({ webhook }: { webhook: WebhookRecord }) {
  const { t } = useView();
  const { url, autorizacao_definida, estado, criado_em, atualizado_em } = webhook;
  return (
    <Card id="overview">
      <p class="inside health">
        <HealthText webhook={webhook} />
      </p>
      <Facts
        rows={[
          [t.webhooks.receiver, <Code>{url}</Code>],
          [t.webhook.authorization, autorizacao_definida ? t.webhook.set : t.webhook.notSet],
          [t.webhook.registered, <Time at={criado_em} />],
          atualizado_em !== criado_em && estado === 'ativo' && [t.webhook.changed, <Time at={atualizado_em} />],
          ...oldSecretsOf(t, webhook),
        ]}
      />
    </Card>
  );
}

/** Returns the replaced secrets that still sign, with the end of each. */
export function oldSecretsOf({ webhook: t }: Texts, { segredos_anteriores }: WebhookRecord) {
  return segredos_anteriores.map(({ valido_ate }) => [t.oldSecrets, <Time at={valido_ate} form="exact" />] as const);
}

function ReplayLink({ webhook: { evento, estado }, filter }: { webhook: WebhookRecord; filter: Filter }) {
  const { t } = useView();
  if (filter.state !== 'falhou' && filter.state !== 'retida') return null;
  if (estado === 'suspenso') return <p>{t.webhook.reactivateFirst}</p>;
  return (
    <Link to={`${pathOf(evento)}/replay${queryOf({ ...filter, cursor: undefined })}`} kind="button main">
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

function Deliveries({ event, filter, list: { rows, next } }: { event: string; filter: Filter; list: List }) {
  const { t } = useView();
  const isFiltered = queryOf({ ...filter, cursor: undefined }) !== '';
  const empty = next !== null ? t.webhook.nonePage : isFiltered ? t.webhook.noneMatch : t.webhook.none;
  const unread = rows.filter(({ detail }) => !detail).length;
  const to = (cursor: string | undefined) => `${pathOf(event)}${queryOf({ ...filter, cursor })}#list`;
  return (
    <>
      {unread > 0 && <p class="note failed inside">{t.webhook.unreadDetails(unread)}</p>}
      <Table
        rows={rows}
        empty={empty}
        columns={[
          [
            'Id',
            ({ record }) => (
              <Link to={pathOf(event, record.id)}>
                <span class="id">{record.id}</span>
              </Link>
            ),
          ],
          [t.webhook.state, ({ record }) => <StateBadge state={record.estado} />],
          [t.webhook.result, ({ record }) => resultOf(t, record.ultimo_resultado, record.ultimo_status)],
          [t.webhook.accepted, ({ record }) => <Time at={record.criado_em} />],
          [
            t.webhook.demand,
            row => (isTest(row.record.id) ? t.webhook.testShort : numberIn(row.detail, 'id_demanda')),
            'number',
          ],
          [t.webhook.proposal, row => numberIn(row.detail, 'id_proposta'), 'number'],
          [t.webhook.attempts, ({ record }) => record.tentativas, 'number'],
          [t.webhook.next, ({ record: { proxima_tentativa_em: at } }) => (at === null ? '–' : <Time at={at} />)],
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

/** Returns a number of an event's body as it is written there. */
export function numberIn(detail: DeliveryDetail | undefined, name: 'id_demanda' | 'id_proposta'): string {
  try {
    const value: unknown = JSON.parse(detail?.corpo ?? '{}')[name];
    return value === undefined ? '–' : String(value);
  } catch {
    return '–';
  }
}
