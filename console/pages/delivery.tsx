import type { DeliveryDetail } from '../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { Button, Card, Code, CopyButton, Facts, Pre, StateBadge, Table, Time } from '../components.tsx';
import { isOf } from '../health.tsx';
import { isTest } from '../tally.ts';
import type { Texts } from '../texts/en.ts';
import { textOf } from '../texts/texts.ts';
import {
  type Handler,
  NotFound,
  type Page,
  type Parameters,
  type Part,
  partOf,
  pathOf,
  useView,
  type View,
} from '../view.ts';
import { numberIn } from './webhook.tsx';

/** Shows a delivery: what became of it and why, its attempts and its body. */
export async function deliveryPage({ api, t }: View, { event, id }: Parameters): Promise<Page> {
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
          {last?.detalhe && <p class="inside advice">{textOf(t.advice, last.detalhe)}</p>}
          <Facts
            rows={[
              [
                'webhook-id',
                <>
                  <Code>{id}</Code> <CopyButton text={id} label={t.delivery.copyId} />
                </>,
              ],
              ...('value' in webhook && webhook.value
                ? [[t.webhook.receiverNow, <Code>{webhook.value.url}</Code>] as const]
                : []),
              [t.webhook.accepted, <Time at={delivery.criado_em} />],
              [t.webhook.demand, numberIn(delivery, 'id_demanda')],
              [t.webhook.proposal, numberIn(delivery, 'id_proposta')],
              ...(delivery.proxima_tentativa_em
                ? [[t.webhook.next, <Time at={delivery.proxima_tentativa_em} />] as const]
                : []),
            ]}
          />
        </Card>
        <Attempts delivery={delivery} />
        <Body body={delivery.corpo} />
      </>
    ),
  };
}

export const resend: Handler = async ({ api, t }, { event, id }) => {
  await api.resend(event, id);
  return { to: pathOf(event, id), notes: [{ kind: 'done', text: t.delivery.resent }] };
};

type Attempt = DeliveryDetail['tentativas'][number];

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
function obstacleOf({ delivery: t }: Texts, delivery: DeliveryDetail, webhook: Part<WebhookRecord | undefined>) {
  if (isTest(delivery.id)) return t.isTest;
  if ('error' in webhook) return undefined;
  if (!webhook.value) return t.noWebhook;
  if (!isOf(webhook.value, delivery)) return t.isReplaced;
  return webhook.value.estado === 'suspenso' ? t.reactivateFirst : undefined;
}

function Attempts({ delivery: { tentativas } }: { delivery: DeliveryDetail }) {
  const { t } = useView();
  const isCutOff = (tentativas[0]?.numero ?? 1) > 1;
  return (
    <Card id="attempts" title={t.webhook.attempts}>
      <Table
        rows={tentativas.toReversed()}
        empty={t.delivery.noAttempt}
        columns={[
          ['#', ({ numero }) => numero, 'number'],
          [t.delivery.when, ({ iniciada_em }) => <Time at={iniciada_em} />],
          [t.delivery.took, ({ duracao_ms }) => `${duracao_ms} ms`, 'number'],
          [t.delivery.outcome, attempt => <Outcome attempt={attempt} />],
          [t.delivery.answer, attempt => (attempt.resposta ? <Pre>{attempt.resposta}</Pre> : '–')],
        ]}
      />
      {isCutOff && <p class="inside muted">{t.delivery.olderGone}</p>}
    </Card>
  );
}

function Outcome({ attempt: { resultado, status, detalhe } }: { attempt: Attempt }) {
  const { t } = useView();
  const tone = resultado === 'entregue' ? 'good' : resultado === 'lenta' || resultado === 'interno' ? 'wait' : 'bad';
  return (
    <>
      <span class={`badge ${tone}`}>
        {[status, textOf(t.results, resultado)].filter(part => part !== null).join(' ')}
      </span>
      {detalhe !== null && (
        <small class="block">
          <Code>{detalhe}</Code>: {textOf(t.advice, detalhe)}
        </small>
      )}
    </>
  );
}

function Body({ body }: { body: string }) {
  const { t } = useView();
  return (
    <Card title={t.delivery.body} aside={<CopyButton text={body} label={t.delivery.copyBody} />}>
      <div class="inside">
        <p class="muted">{t.delivery.signedBody}</p>
        <Pre>{body}</Pre>
      </div>
    </Card>
  );
}
