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

/** Checks that receivers' responses are stored, and that the API returns each delivery and webhook correctly. */
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
    if (result === 'delivered' && !isSuccess) violate('delivered without a successful response', id);
    if ((status !== null || result === 'http') && !evidence().postOf(id, record))
      violate(`the response to attempt ${record.number} is not stored`, id);
  }

  function judgeLook({ path, status, answer }: Answered, deliveries: ReadonlyMap<string, Delivery>): void {
    const [, id = ''] = /\/entregas\/([^/?]+)$/.exec(path) ?? [];
    const delivery = deliveries.get(id);
    if (id === '') return;
    if (!delivery || status !== 200) {
      violate('listed, but not found by its id', id);
      return;
    }
    const { corpo, tentativas } = answer;
    if (!isShown(delivery, answer) || corpo !== delivery.body) violate('returned incorrectly', id);
    const shown: readonly Shown[] = Array.isArray(tentativas) ? tentativas : [];
    if (shown.map(({ numero }) => numero).join() !== delivery.attempts.map(({ number }) => number).join()) {
      violate('returned with the wrong attempts', id);
    }
    for (const { numero, resultado, detalhe, status: answeredWith, resposta } of shown) {
      const record = delivery.attempts.find(({ number }) => number === numero);
      if (record && (resultado !== wireResults[record.result] || detalhe !== wordOf(record)))
        violate('returned with the wrong results', id);
      if (record) judgeAnswer(id, { ...record, status: answeredWith, response: resposta, answerId: undefined });
    }
  }

  /** Checks that each listed delivery had the returned state during the request. */
  function judgeListed({ sentAt, answeredAt, answer }: Answered): void {
    for (const shown of listOf(answer.entregas)) {
      const versions = evidence().deliveriesWithin(String(shown.id), sentAt - maxLag, answeredAt);
      if (!versions.some(version => version && isShown(version, shown)))
        violate('listed incorrectly', String(shown.id));
    }
  }

  /** Checks that the webhooks had the returned state during the request. */
  function judgeWebhooks({ account, path, method, status, answer, ...span }: Answered): void {
    const isList = path === '/v1/webhooks';
    if (method !== 'GET' || status !== 200 || !(isList || path === `/v1/webhooks/${eventName}`)) return;
    const shown = isList ? listOf(answer.webhooks) : [answer];
    const isRight = (webhook: Webhook | undefined) =>
      shown.length === (webhook ? 1 : 0) && shown.every(one => webhook && isWebhookShown(webhook, one));
    if (!webhooksOf(account, span).some(isRight)) violate(`${path} returned a state of ${account} that never existed`);
  }

  /** Checks that the list of webhooks also contains the account's events without a webhook. */
  function judgeDropped({ account, answer, ...span }: Answered): void {
    if (faultClass !== 'calm' || people.wasDeleted(account, 0)) return;
    if (answer.eventos_sem_webhook === undefined) return;
    const isReported = listOf(answer.eventos_sem_webhook).length > 0;
    const lines = cloud.logs({ text: '"message":"event.without_webhook"', until: span.sentAt - second });
    const wereDropped = lines.some(({ text }) => text.includes(`"account":"${account}"`));
    const isNone = webhooksOf(account, span).every(webhook => !webhook);
    if (isNone && wereDropped && !isReported) violate(`the list of events without a webhook is empty for ${account}`);
  }

  function webhooksOf(accountId: string, { sentAt, answeredAt }: Pick<Answered, 'sentAt' | 'answeredAt'>) {
    return evidence().webhooksWithin({ accountId, eventName }, sentAt, answeredAt);
  }

  function judgeList(account: string, looks: readonly Answered[], deliveries: ReadonlyMap<string, Delivery>): void {
    const pages = looks.filter(look => look.account === account && look.path.includes('/entregas?'));
    const listed = pages.flatMap(({ answer }) => listOf(answer.entregas));
    const ids = new Set(listed.map(({ id }) => String(id)));
    if (ids.size < listed.length) violate(`the list of ${account} contains a delivery twice`);
    for (const { id, accountId } of deliveries.values()) {
      if (accountId === account && !ids.delete(id)) violate('not in the list of its webhook', id);
    }
    for (const id of ids) violate('listed, but not stored', id);
  }
}

/** The maximum lag of the index for lists. */
const maxLag = second;

type Representation = Answered['answer'];

function listOf(value: unknown): readonly Representation[] {
  return Array.isArray(value) ? value : [];
}

/** Returns whether a response matches a delivery. A pending delivery to an earlier registration is returned as cancelled. */
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
