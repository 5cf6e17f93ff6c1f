import type { DeliveryDetail } from '../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { Button, Card, Code, CopyButton, Facts, Pre, StateBadge, Table, Time } from '../components.tsx';
import { isOf } from '../health.tsx';
import { isTest } from '../tally.ts';
import type { Texts } from '../texts/en.ts';
import { resultOf, textOf } from '../texts/texts.ts';
import { type Handler, NotFound, type Part, partOf, pathOf, useView } from '../view.ts';
import { numberIn } from './webhook.tsx';

/** Shows a delivery: what became of it and why, its attempts and its body. */
export const deliveryPage: Handler = async ({ api, t }, { event, id }) => {
  const [delivery, webhook] = await Promise.all([api.findDelivery(event, id), partOf(api.findWebhook(event))]);
  if (!delivery) throw new NotFound(t.failures.noDelivery);
  const obstacle = obstacleOf(t, delivery, webhook);
  const last = delivery.tentativas.at(-1);
  return {
    title: `${event} ${id}`,
    heading: (
      <>
        <StateBadge state={delivery.estado} /> {verdictOf(t, delivery)}
      </>
    ),
    actions:
      obstacle === undefined ? (
        <Button action={`${pathOf(event, id)}/resend`} kind={delivery.estado === 'falhou' ? 'main' : undefined}>
          {t.delivery.resend}
        </Button>
      ) : (
        <p class="muted">{obstacle}</p>
      ),
    crumbs: [event],
    content: (
      <>
        <Card id="overview">
          {last && adviceOf(t, last) && <p class="inside advice">{adviceOf(t, last)}</p>}
          <Facts
            rows={[
              [
                'webhook-id',
                <>
                  <Code>{id}</Code> <CopyButton text={id} of="webhook-id" />
                </>,
              ],
              webhook.value && [t.webhooks.receiver, <Code>{webhook.value.url}</Code>],
              [t.webhook.accepted, <Time at={delivery.criado_em} />],
              [t.webhook.demand, numberIn(delivery, 'id_demanda')],
              [t.webhook.proposal, numberIn(delivery, 'id_proposta')],
              delivery.proxima_tentativa_em !== null && [t.webhook.next, <Time at={delivery.proxima_tentativa_em} />],
            ]}
          />
        </Card>
        <Attempts delivery={delivery} />
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

/** Returns what to check after an attempt that failed. */
export function adviceOf({ advice, statusAdvice }: Texts, attempt: Attempt): string | undefined {
  const { resultado, status, detalhe } = attempt;
  if (detalhe !== null) return textOf(advice, detalhe);
  const texts: Readonly<Record<string, string>> = statusAdvice;
  if (resultado !== 'http' || status === null) return texts[resultado];
  return texts[status === 405 ? 404 : status] ?? texts[`${Math.floor(status / 100)}xx`] ?? texts.other;
}

/** Returns what became of a delivery, and why. The badge before it is the state. */
function verdictOf({ delivery: t, results }: Texts, { estado, tentativas }: DeliveryDetail): string {
  const last = tentativas.at(-1);
  const how = last && howItEnded(last);
  switch (estado) {
    case 'entregue':
      return t.delivered(last?.status ?? 0, last?.numero ?? 0);
    case 'pendente':
      return last && how ? t.endedWith(last.numero, how) : t.pendingFirst;
    case 'falhou':
      return last && how ? t.givenUp(last.numero, how) : t.failedUntried;
    default:
      return { retida: t.held, cancelada: t.cancelled }[estado] ?? '';
  }

  function howItEnded({ resultado, status }: Attempt): string {
    return status === null || resultado === 'lenta' ? textOf(results, resultado) : t.answered(status);
  }
}

/** Returns why a delivery cannot be resent now; the API would refuse it. */
function obstacleOf(
  { delivery: t, webhook: { reactivateFirst } }: Texts,
  delivery: DeliveryDetail,
  webhook: Part<WebhookRecord | undefined>,
) {
  if (isTest(delivery.id)) return t.isTest;
  if ('error' in webhook) return undefined;
  if (!webhook.value) return t.noWebhook;
  if (!isOf(webhook.value, delivery)) return t.isReplaced;
  return webhook.value.estado === 'suspenso' ? reactivateFirst : undefined;
}

function Attempts({ delivery: { tentativas } }: { delivery: DeliveryDetail }) {
  const { t } = useView();
  const isCutOff = (tentativas[0]?.numero ?? 1) > 1;
  return (
    <Card id="attempts" title={t.webhook.attempts}>
      <Table
        rows={tentativas.map((attempt, at) => [attempt, tentativas[at + 1]] as const).toReversed()}
        empty={t.delivery.noAttempt}
        columns={[
          ['#', ([{ numero }]) => numero, 'number'],
          [t.delivery.when, ([{ iniciada_em }]) => <Time at={iniciada_em} />],
          [t.delivery.took, ([{ duracao_ms }]) => `${duracao_ms} ms`, 'number'],
          [t.delivery.outcome, ([attempt, next]) => <Outcome attempt={attempt} next={next} />],
          [t.delivery.answer, ([{ resposta }]) => (resposta ? <Pre>{resposta}</Pre> : '–')],
        ]}
      />
      {isCutOff && <p class="inside muted">{t.delivery.olderGone}</p>}
    </Card>
  );
}

/** Writes the result of an attempt, and what to check, unless the next attempt or the card above says the same. */
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
