import type { AttemptRecord, Delivery } from '../../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../../lambdas/delivery/failure-causes.ts';
import { wireResults, wireStates } from '../../../lambdas/delivery/representation.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { wireReasons, wireStatuses } from '../../../lambdas/webhooks/representation.ts';
import type { Webhook } from '../../../lambdas/webhooks/webhook.ts';
import { eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { reviewAt } from '../people/people.ts';
import type { CompletedRequest } from '../requests.ts';
import { second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import type { Check, Violate } from './violation.ts';

/** Checks that receivers' responses are stored, and that the API returns each delivery and webhook correctly. */
export function checkHistories(
  { cloud, completed, people, faultClass }: World,
  startedAt: number,
  evidence: () => Evidence,
  violate: Violate,
): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    const deliveries = new Map<string, Delivery>();
    for (const [id, changes] of evidence().deliveries) {
      const delivery = changes.at(-1)?.delivery;
      if (delivery) deliveries.set(id, delivery);
    }
    for (const delivery of deliveries.values()) {
      for (const record of delivery.attempts) checkResponse(delivery.id, record);
    }
    for (const one of completed()) {
      checkListed(one);
      checkWebhooks(one);
      checkEventsWithoutWebhook(one);
    }
    const finalReads = completed().filter(({ method, sentAt }) => method === 'GET' && sentAt >= startedAt + reviewAt);
    for (const read of finalReads) checkRead(read, deliveries);
    for (const account of new Set(finalReads.map(read => read.account))) checkList(account, finalReads, deliveries);
  }

  function checkResponse(id: string, record: AttemptRecord): void {
    const { result, status } = record;
    const isSuccess = status !== null && status >= 200 && status < 300;
    if (result === 'delivered' && !isSuccess) violate('delivered without a successful response', id);
    if ((status !== null || result === 'http') && !evidence().postOf(id, record))
      violate(`the response to attempt ${record.number} is not stored`, id);
  }

  function checkRead({ path, status, response }: CompletedRequest, deliveries: ReadonlyMap<string, Delivery>): void {
    const [, id = ''] = /\/entregas\/([^/?]+)$/.exec(path) ?? [];
    const delivery = deliveries.get(id);
    if (id === '') return;
    if (!delivery || status !== 200) {
      violate('listed, but not found by its id', id);
      return;
    }
    const { corpo, tentativas } = response;
    if (!matchesDelivery(delivery, response) || corpo !== delivery.body) violate('returned incorrectly', id);
    const shownAttempts: readonly ShownAttempt[] = Array.isArray(tentativas) ? tentativas : [];
    if (shownAttempts.map(({ numero }) => numero).join() !== delivery.attempts.map(({ number }) => number).join()) {
      violate('returned with the wrong attempts', id);
    }
    for (const { numero, resultado, detalhe, status: shownStatus, resposta } of shownAttempts) {
      const record = delivery.attempts.find(({ number }) => number === numero);
      if (record && (resultado !== wireResults[record.result] || detalhe !== causeWordOf(record)))
        violate('returned with the wrong results', id);
      if (record) checkResponse(id, { ...record, status: shownStatus, response: resposta, responseId: undefined });
    }
  }

  /** Checks that each listed delivery had the returned state during the request. */
  function checkListed({ sentAt, endedAt, response }: CompletedRequest): void {
    for (const entry of listOf(response.entregas)) {
      const versions = evidence().deliveriesWithin(String(entry.id), sentAt - maxLag, endedAt);
      if (!versions.some(version => version && matchesDelivery(version, entry)))
        violate('listed incorrectly', String(entry.id));
    }
  }

  /** Checks that the returned webhooks had this state during the request. */
  function checkWebhooks({ account, path, method, status, response, ...span }: CompletedRequest): void {
    const isList = path === '/v1/webhooks';
    if (method !== 'GET' || status !== 200 || !(isList || path === `/v1/webhooks/${eventName}`)) return;
    const representations = isList ? listOf(response.webhooks) : [response];
    const isMatch = (webhook: Webhook | undefined) =>
      representations.length === (webhook ? 1 : 0) &&
      representations.every(one => webhook && matchesWebhook(webhook, one));
    if (!webhooksOf(account, span).some(isMatch))
      violate(`${path} returned webhooks of ${account} in a state that they never had`);
  }

  /** Checks that the list of webhooks also contains the account's events without a webhook. */
  function checkEventsWithoutWebhook({ account, response, ...span }: CompletedRequest): void {
    if (faultClass !== 'none' || people.wasDeleted(account, 0)) return;
    if (response.eventos_sem_webhook === undefined) return;
    const isReported = listOf(response.eventos_sem_webhook).length > 0;
    const lines = cloud.logs({ text: '"message":"event.without_webhook"', until: span.sentAt - second });
    const wereDropped = lines.some(({ text }) => text.includes(`"account":"${account}"`));
    const hasNoWebhook = webhooksOf(account, span).every(webhook => !webhook);
    if (hasNoWebhook && wereDropped && !isReported)
      violate(`the list of events without a webhook is empty for ${account}`);
  }

  function webhooksOf(accountId: string, { sentAt, endedAt }: Pick<CompletedRequest, 'sentAt' | 'endedAt'>) {
    return evidence().webhooksWithin({ accountId, eventName }, sentAt, endedAt);
  }

  function checkList(
    account: string,
    reads: readonly CompletedRequest[],
    deliveries: ReadonlyMap<string, Delivery>,
  ): void {
    const pages = reads.filter(read => read.account === account && read.path.includes('/entregas?'));
    const entries = pages.flatMap(({ response }) => listOf(response.entregas));
    const ids = new Set(entries.map(({ id }) => String(id)));
    if (ids.size < entries.length) violate(`the list of ${account} contains a delivery twice`);
    for (const { id, accountId } of deliveries.values()) {
      if (accountId === account && !ids.delete(id)) violate('not in the list of its webhook', id);
    }
    for (const id of ids) violate('listed, but not stored', id);
  }
}

/** The maximum lag of the index that lists use. */
const maxLag = second;

type Representation = CompletedRequest['response'];

function listOf(value: unknown): readonly Representation[] {
  return Array.isArray(value) ? value : [];
}

/** Returns whether a response matches a delivery. The API returns `cancelled` for a pending delivery to an earlier registration. */
function matchesDelivery({ state, wait, attempts }: Delivery, response: Representation): boolean {
  const isPending = response.estado === wireStates.pending;
  const latest = attempts.at(-1);
  return (
    (response.estado === wireStates[state] || (state === 'pending' && response.estado === wireStates.cancelled)) &&
    response.proxima_tentativa_em === (isPending && wait ? isoTime(wait.nextAttemptAt) : null) &&
    response.ultimo_resultado === (latest ? wireResults[latest.result] : null) &&
    response.ultimo_status === (latest?.status ?? null)
  );
}

function matchesWebhook({ url, status, suspensionReason, failingSince }: Webhook, response: Representation): boolean {
  return (
    response.url === url &&
    response.estado === wireStatuses[status] &&
    response.motivo_suspensao === (suspensionReason && wireReasons[suspensionReason]) &&
    response.falhando_desde === (failingSince === undefined ? null : isoTime(failingSince))
  );
}

function causeWordOf({ cause }: AttemptRecord): string | null {
  return cause && failureCauses[cause].word;
}

interface ShownAttempt {
  readonly numero: number;
  readonly resultado: string;
  readonly detalhe: string | null;
  readonly status: number | null;
  readonly resposta: string | null;
}
