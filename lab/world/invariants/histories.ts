import type { AttemptRecord, Delivery } from '../../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../../lambdas/delivery/failure-causes.ts';
import { wireResults, wireStates } from '../../../lambdas/delivery/representation.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { wireReasons, wireStatuses } from '../../../lambdas/webhooks/representation.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { lastLook } from '../people/people.ts';
import type { Answered } from '../requests.ts';
import { second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/** Judges that receivers' responses are stored, and that the API shows each delivery and webhook correctly. */
export function judgeHistories(
  { cloud, answered, people, faultClass }: World,
  startedAt: number,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    const deliveries = new Map<string, Delivery>();
    for (const [id, changes] of evidence().deliveries) {
      const delivery = changes.at(-1)?.delivery;
      if (delivery) deliveries.set(id, delivery);
    }
    for (const delivery of deliveries.values()) {
      for (const record of delivery.attempts) judgeAnswer(delivery.id, record);
    }
    for (const one of answered()) {
      judgeListed(one);
      judgeWebhooks(one);
      judgeDropped(one);
    }
    const looks = answered().filter(({ method, sentAt }) => method === 'GET' && sentAt >= startedAt + lastLook);
    for (const look of looks) judgeLook(look, deliveries);
    for (const account of new Set(looks.map(look => look.account))) judgeList(account, looks, deliveries);
  }

  function judgeAnswer(id: string, record: AttemptRecord): void {
    const { result, status } = record;
    const isSuccess = status !== null && status >= 200 && status < 300;
    if (result === 'delivered' && !isSuccess) violate('delivered without a successful answer', id);
    if ((status !== null || result === 'http') && !evidence().postOf(id, record))
      violate(`the answer to attempt ${record.number} is not stored`, id);
  }

  function judgeLook({ path, status, answer }: Answered, deliveries: ReadonlyMap<string, Delivery>): void {
    const [, id = ''] = /\/entregas\/([^/?]+)$/.exec(path) ?? [];
    const delivery = deliveries.get(id);
    if (id === '') return;
    if (!delivery || status !== 200) {
      violate('listed but not shown', id);
      return;
    }
    const { corpo, tentativas } = answer;
    if (!isShown(delivery, answer) || corpo !== delivery.body) violate('shown incorrectly', id);
    const shown: readonly Shown[] = Array.isArray(tentativas) ? tentativas : [];
    if (shown.map(({ numero }) => numero).join() !== delivery.attempts.map(({ number }) => number).join()) {
      violate('shown with other attempts', id);
    }
    for (const { numero, resultado, detalhe, status: answeredWith, resposta } of shown) {
      const record = delivery.attempts.find(({ number }) => number === numero);
      if (record && (resultado !== wireResults[record.result] || detalhe !== wordOf(record)))
        violate('shown with other results', id);
      if (record) judgeAnswer(id, { ...record, status: answeredWith, response: resposta, answerId: undefined });
    }
  }

  /** Judges that each listed delivery had the shown state during the request. */
  function judgeListed({ sentAt, answeredAt, answer }: Answered): void {
    for (const shown of listOf(answer.entregas)) {
      const forms = evidence().deliveriesWithin(String(shown.id), sentAt - maxLag, answeredAt);
      if (!forms.some(form => form && isShown(form, shown))) violate('listed incorrectly', String(shown.id));
    }
  }

  /** Judges that webhooks had the shown state during the request. */
  function judgeWebhooks({ account, path, method, status, answer, ...span }: Answered): void {
    const isList = path === '/v1/webhooks';
    if (method !== 'GET' || status !== 200 || !(isList || path === `/v1/webhooks/${eventName}`)) return;
    const shown = isList ? listOf(answer.webhooks) : [answer];
    const isRight = (webhook: Webhook | undefined) =>
      shown.length === (webhook ? 1 : 0) && shown.every(one => webhook && isWebhookShown(webhook, one));
    if (!webhooksOf(account, span).some(isRight)) violate(`${path} shows ${account} a state that never existed`);
  }

  /** Judges that an account can list its events without a webhook. */
  function judgeDropped({ account, answer, ...span }: Answered): void {
    if (faultClass !== 'calm' || people.wasDeleted(account, 0)) return;
    if (answer.eventos_sem_webhook === undefined) return;
    const isReported = listOf(answer.eventos_sem_webhook).length > 0;
    const lines = cloud.logs({ text: '"message":"event.without_webhook"', until: span.sentAt - second });
    const wereDropped = lines.some(({ text }) => text.includes(`"account":"${account}"`));
    const isNone = webhooksOf(account, span).every(webhook => !webhook);
    if (isNone && wereDropped && !isReported) violate(`${account} sees too few events without a webhook`);
  }

  function webhooksOf(accountId: string, { sentAt, answeredAt }: Pick<Answered, 'sentAt' | 'answeredAt'>) {
    return evidence().webhooksWithin({ accountId, eventName }, sentAt, answeredAt);
  }

  function judgeList(account: string, looks: readonly Answered[], deliveries: ReadonlyMap<string, Delivery>): void {
    const pages = looks.filter(look => look.account === account && look.path.includes('/entregas?'));
    const listed = pages.flatMap(({ answer }) => listOf(answer.entregas));
    const ids = new Set(listed.map(({ id }) => String(id)));
    if (ids.size < listed.length) violate(`${account} is shown a delivery twice`);
    for (const { id, accountId } of deliveries.values()) {
      if (accountId === account && !ids.delete(id)) violate('not in the list of its webhook', id);
    }
    for (const id of ids) violate('listed although it is not stored', id);
  }
}

/** The maximum lag of the index from which a list is read. */
const maxLag = second;

type Representation = Answered['answer'];

function listOf(value: unknown): readonly Representation[] {
  return Array.isArray(value) ? value : [];
}

/** A delivery that waits for an earlier registration is shown as cancelled. */
function isShown({ state, wait, attempts }: Delivery, shown: Representation): boolean {
  const isPending = shown.estado === wireStates.pending;
  const latest = attempts.at(-1);
  return (
    (shown.estado === wireStates[state] || (state === 'pending' && shown.estado === wireStates.cancelled)) &&
    shown.proxima_tentativa_em === (isPending && wait ? isoTime(wait.nextAttemptAt) : null) &&
    shown.ultimo_resultado === (latest ? wireResults[latest.result] : null) &&
    shown.ultimo_status === (latest?.status ?? null)
  );
}

function isWebhookShown({ url, status, suspensionReason, failingSince }: Webhook, shown: Representation): boolean {
  return (
    shown.url === url &&
    shown.estado === wireStatuses[status] &&
    shown.motivo_suspensao === (suspensionReason && wireReasons[suspensionReason]) &&
    shown.falhando_desde === (failingSince === undefined ? null : isoTime(failingSince))
  );
}

function wordOf({ cause }: AttemptRecord): string | null {
  return cause && failureCauses[cause].word;
}

interface Shown {
  readonly numero: number;
  readonly resultado: string;
  readonly detalhe: string | null;
  readonly status: number | null;
  readonly resposta: string | null;
}
