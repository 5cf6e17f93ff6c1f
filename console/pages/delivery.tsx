import type { Child } from 'hono/jsx';
import type { DeliveryDetail } from '../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { Button, Card, Code, CopyButton, Facts, Link, Pre, StateBadge, Table, Time } from '../components.tsx';
import { isTest } from '../count-deliveries.ts';
import { belongsTo } from '../health.tsx';
import { adviceOf, resultOf, textOf } from '../texts/texts.ts';
import { distance, timeFormats } from '../times.ts';
import { type Handler, NotFound, type Part, partOf, pathOf, useView, type View } from '../view.ts';
import { authorizationOf, nextAttemptOf, numberIn } from './webhook.tsx';

export const deliveryPage: Handler = async (view, { event, id }) => {
  const { api, t } = view;
  const [delivery, webhook] = await Promise.all([api.findDelivery(event, id), partOf(api.findWebhook(event))]);
  if (!delivery) throw new NotFound(t.failures.noDelivery);
  const demand = isTest(id) ? t.webhook.testShort : `${t.webhook.demand} ${numberIn(delivery, 'id_demanda')}`;
  return {
    title: `${event} ${id}`,
    heading: (
      <>
        <StateBadge state={delivery.estado} /> {verdictOf(view, delivery)}
        <small class="block">
          {event} · {demand}
        </small>
      </>
    ),
    actions: <Actions event={event} delivery={delivery} webhook={webhook} />,
    ...(view.canManage && delivery.estado === 'pendente' && !isTest(id) && { lead: t.delivery.resendNow }),
    crumbs: [event],
    content: (
      <>
        <Overview event={event} delivery={delivery} webhook={webhook.value} />
        {delivery.tentativas.length > 0 && <Attempts delivery={delivery} />}
        <Card title={t.delivery.body} aside={<CopyButton text={delivery.corpo} of={t.delivery.body} />}>
          <div class="inside">
            <p class="muted">{t.delivery.signedBody}</p>
            <Pre>{delivery.corpo}</Pre>
          </div>
        </Card>
      </>
    ),
  };
};

export const resend: Handler = async ({ api, t }, { event, id }) => {
  await api.resend(event, id);
  return { to: pathOf(event, id), notes: [{ kind: 'done', text: t.delivery.resent }] };
};

type Attempt = DeliveryDetail['tentativas'][number];

function verdictOf({ t: { delivery: t, results }, language, now }: View, delivery: DeliveryDetail): string {
  const { estado, tentativas, proxima_tentativa_em: next } = delivery;
  const last = tentativas.at(-1);
  const outcome = last && outcomeOf(last);
  switch (estado) {
    case 'entregue':
      return t.delivered(last?.status ?? 0, last?.numero ?? 0);
    case 'pendente':
      if (!last || !outcome || (next !== null && Date.parse(next) <= now)) return t.running((last?.numero ?? 0) + 1);
      if (next === null) return t.endedWith(last.numero, outcome);
      return `${t.endedWith(last.numero, outcome)}. ${t.nextIn(distance(Date.parse(next) - now, timeFormats[language].distance))}`;
    case 'falhou':
      return last && outcome ? t.givenUp(last.numero, outcome) : t.expired;
    default:
      return { retida: t.held, cancelada: t.cancelled }[estado] ?? '';
  }

  function outcomeOf({ resultado, status }: Attempt): string {
    return status === null || resultado === 'lenta' ? textOf(results, resultado) : t.answered(status);
  }
}

interface DeliveryProps {
  readonly event: string;
  readonly delivery: DeliveryDetail;
}

function Actions({ event, delivery, webhook }: DeliveryProps & { webhook: Part<WebhookRecord | undefined> }) {
  const { t } = useView();
  const { id, estado } = delivery;
  const [isSample, path] = [isTest(id), pathOf(event)];
  const { value, error } = webhook;
  if (!value && error === undefined) return <p class="muted">{t.delivery.noWebhook}</p>;
  if (value?.estado === 'suspenso' && !(isSample && value.motivo_suspensao !== 'operador'))
    return <Link to={path}>{t.webhook.reactivateFirst}</Link>;
  if (value && !isSample && !belongsTo(value, delivery)) return <p class="muted">{t.delivery.isReplaced}</p>;
  return (
    <Button action={isSample ? `${path}/test` : `${pathOf(event, id)}/resend`} kind={estado === 'falhou' && 'main'}>
      {isSample ? t.delivery.testAgain : t.delivery.resend}
    </Button>
  );
}

function Overview({ event, delivery, webhook }: DeliveryProps & { webhook: WebhookRecord | undefined }) {
  const { t } = useView();
  const { id, estado, criado_em, tentativas } = delivery;
  const last = tentativas.at(-1);
  const advice = last && adviceOf(t, last);
  const expiry = new Date(Date.parse(criado_em) + 30 * 86_400_000).toISOString();
  return (
    <Card id="overview">
      {advice && (
        <p class="inside advice">
          {advice} {webhook && <Link to={`${pathOf(event)}/change`}>{t.delivery.changeWebhook}</Link>}
        </p>
      )}
      <Facts
        rows={[
          [
            'webhook-id',
            <>
              <Code>{id}</Code> <CopyButton text={id} of="webhook-id" />
            </>,
          ],
          webhook && [t.delivery.receiverNow, <Code>{webhook.url}</Code>],
          webhook && last?.status === 401 && authorizationOf(t, webhook),
          [t.webhook.accepted, <Time at={criado_em} />],
          [t.webhook.proposal, numberIn(delivery, 'id_proposta')],
          [t.webhook.next, nextAttemptOf(delivery)],
          estado === 'retida' && [t.delivery.heldUntil, <Time at={expiry} />],
        ]}
      />
    </Card>
  );
}

function Attempts({ delivery: { tentativas } }: { delivery: DeliveryDetail }) {
  const { t } = useView();
  return (
    <Card id="attempts" title={t.webhook.attempts}>
      <Table
        rows={tentativas.map((attempt, at) => [attempt, tentativas[at + 1]] as const).toReversed()}
        columns={[
          ['#', ([{ numero }]) => numero, 'number'],
          [t.delivery.when, ([{ iniciada_em }]) => <Time at={iniciada_em} />],
          [t.delivery.took, ([{ duracao_ms }]) => `${duracao_ms} ms`, 'number'],
          [t.delivery.outcome, ([attempt, next]) => <Outcome attempt={attempt} next={next} />],
          [t.delivery.answer, ([{ resposta }, next]) => responseOf(t.delivery.same, resposta, next)],
        ]}
      />
    </Card>
  );
}

function responseOf(same: (attempt: number) => string, response: string | null, next: Attempt | undefined): Child {
  if (!response) return '–';
  return response === next?.resposta ? <small>{same(next.numero)}</small> : <Pre>{response}</Pre>;
}

/** Renders the result of an attempt. Omits advice if the next attempt or the overview shows it. */
function Outcome({ attempt, next }: { attempt: Attempt; next: Attempt | undefined }) {
  const { t } = useView();
  const { resultado, status, detalhe } = attempt;
  const advice = adviceOf(t, attempt);
  const tone = resultado === 'entregue' ? 'good' : resultado === 'lenta' || resultado === 'interno' ? 'wait' : 'bad';
  return (
    <>
      <span class={`badge ${tone}`}>{resultOf(t, resultado, status)}</span>
      {detalhe !== null && (
        <small class="block">
          <Code>{detalhe}</Code>
        </small>
      )}
      {next && advice !== adviceOf(t, next) && <small class="block">{advice}</small>}
    </>
  );
}
