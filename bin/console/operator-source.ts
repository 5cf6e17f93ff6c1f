import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { stateFromWire, toAttemptRecord, toDeliveryRecord } from '../../lambdas/delivery/representation.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { type EventName, isEventName } from '../../lambdas/webhooks/webhook.ts';
import { actions as accountEvents } from '../actions/account-events.ts';
import { actions as deliveries } from '../actions/deliveries.ts';
import { actions as pages } from '../actions/delivery-pages.ts';
import { actions as dlq } from '../actions/dlq.ts';
import { actions as events } from '../actions/events.ts';
import { describeError, isUnread, type Part } from '../actions/operator.ts';
import type { DeadLetter } from '../actions/queues.ts';
import { actions as requests } from '../actions/requests.ts';
import { actions as status } from '../actions/status.ts';
import type { Target, Task } from '../actions/target.ts';
import { type WebhookView as OperatorsView, actions as webhooks } from '../actions/webhooks.ts';
import { attemptView, deliveryRow } from './delivery-views.ts';
import { makeSandbox } from './sandbox-source.ts';
import {
  type DeliveryRow,
  type DeliveryView,
  type LetterView,
  Refusal,
  type Source,
  type StartView,
  type WebhookView,
} from './source.ts';

/**
 * Makes the source of an operator's pages: the actions of the command line, with the operator's own credentials. What the command
 * line audits is audited here too. A page asks before what a command would ask at the terminal.
 */
export function makeOperatorSource(target: Target): Source {
  const isLocal = target.deployed === undefined;
  const task: Task = {
    target,
    progress: () => {},
    tell: () => {},
    warn: text => process.stderr.write(`warning: ${text}\n`),
    confirm: async () => {},
    askPassword: () => Promise.reject(new Refusal('Passwords are set at the terminal.')),
  };
  return told(target, {
    label: target.label,
    // Every look at a stage is paid for: pages that renew each 5 s would cost dollars a day.
    refreshSeconds: isLocal ? 5 : 60,
    mayChange: true,
    listWebhooks: async account => (await webhooks.listWebhooks(task, { account })).map(webhookView),
    findWebhook: async (account, event) => {
      const found = await webhooks.listWebhooks(task, { account });
      const webhook = found.find(({ eventName }) => eventName === event);
      return webhook && webhookView(webhook);
    },
    listDeliveries: async ({ account, event, state, since, until, cursor, limit }) => {
      const page = await pages.readPage(task, {
        account,
        event: nameOf(event),
        state: state && stateFromWire(state),
        since: since === undefined ? undefined : Date.parse(since),
        until: until === undefined ? undefined : Date.parse(until),
        after: cursor,
        limit,
      });
      return { deliveries: page.deliveries.map(rowOf), next: page.next ?? null };
    },
    latestDeliveries: async (account, event) => {
      const page = await pages.readPage(task, { account, event: nameOf(event), limit: 50 });
      return { deliveries: page.deliveries.map(viewOf), next: page.next ?? null };
    },
    findDelivery: async ({ account, event, id }) => {
      const delivery = await pages.findDelivery(task, id);
      return delivery && delivery.accountId === account && delivery.eventName === event ? viewOf(delivery) : undefined;
    },
    readBody: async ({ id }) => (await deliveries.showDelivery(task, id, { body: true })).delivery.body,
    resend: async ({ id }) => void (await deliveries.resendDelivery(task, id)),
    replay: async ({ account, event, state, since, until }) => {
      const range = {
        from: Date.parse(since),
        to: Date.parse(until),
        wanted: stateFromWire(state) as 'failed' | 'held',
      };
      await pages.beginReplay(task, { account, event: nameOf(event), ...range });
    },
    reactivate: async (account, event) =>
      void (await webhooks.reactivateWebhook(task, { account, event: nameOf(event) })),
    test: async (account, event) => void (await pages.sendTest(task, { account, event: nameOf(event) })),
    operator: {
      suspend: async (account, event) => void (await webhooks.suspendWebhook(task, { account, event: nameOf(event) })),
      readStart: async () => startView(await status.readStatus(task)),
      listEvents: async account => {
        const { events: found, logSince } = await accountEvents.listEvents(task, {
          account,
          since: target.clock.now() - day,
          limit: 50,
        });
        return {
          since: isoTime(logSince),
          events: found.map(({ at, eventName, deliveryId, messageId, verdict, why }) => ({
            at: isoTime(at),
            event: eventName ?? '–',
            id: deliveryId ?? messageId ?? '–',
            fate: verdict,
            why,
          })),
        };
      },
      listLetters: async () => {
        const { letters, inFlight } = await dlq.listLetters(task, { limit: 200, bodies: false });
        return { letters: letters.map(letterView), inFlight };
      },
      findLetter: async id => {
        const { letters, inFlight } = await dlq.listLetters(task, { limit: 1_000, bodies: false });
        return { letter: letters.map(letterView).find(letter => letter.id === id), inFlight };
      },
      redrive: async () => {
        const { moved, kept } = await dlq.redriveLetters(task, { rate: 10, limit: 1_000 });
        return { moved, kept: kept.length };
      },
      discard: ids => dlq.discardLetters(task, { ids }),
      findEvent: async ({ id, account, event }) => {
        const { found } = await events.findPublished(task, referenceOf(id, account, event), {});
        const { verdict, why, delivery, logSince } = found;
        return {
          verdict,
          why,
          delivery: delivery && { account: delivery.accountId, event: delivery.eventName, id: delivery.id },
          searchedSince: logSince === undefined ? undefined : isoTime(logSince),
        };
      },
      findRequest: async id => {
        const { access, lines } = await requests.findRequest(task, id, {});
        return [...(access ? [access] : []), ...lines].map(({ at, fields }) => ({
          at: isoTime(at),
          text: JSON.stringify(fields, null, 1),
        }));
      },
      ...(target.outputs.ReceiverUrl !== undefined && { sandbox: makeSandbox(task, target.outputs.ReceiverUrl) }),
    },
  });
}

/** Tells the failures of an action as the command line does: in one sentence, with what to do. */
function told(target: Target, source: Source): Source {
  const wrap = <Part extends object>(part: Part): Part =>
    Object.fromEntries(
      Object.entries(part).map(([name, value]) => {
        if (typeof value === 'object' && value !== null) return [name, wrap(value)];
        if (typeof value !== 'function') return [name, value];
        return [
          name,
          async (...given: unknown[]) => {
            try {
              return await value(...given);
            } catch (error) {
              if (error instanceof Refusal) throw error;
              const message = describeError(error, target.unreachable);
              throw error instanceof Error && error.name === 'CliError' ? new Refusal(message) : new Error(message);
            }
          },
        ];
      }),
    ) as Part;
  return wrap(source);
}

function nameOf(event: string): EventName {
  if (!isEventName(event)) throw new Refusal(`There is no event "${event}".`);
  return event;
}

function webhookView(view: OperatorsView): WebhookView {
  const time = (moment: number | undefined) => (moment === undefined ? null : isoTime(moment));
  return {
    account: view.accountId,
    event: view.eventName,
    address: view.host,
    status: view.status,
    reason: view.suspensionReason ?? null,
    failingSince: time(view.failingSince),
    slowSince: time(view.slowSince),
    createdAt: time(view.createdAt),
    updatedAt: time(view.updatedAt),
    hasAuthorization: view.hasAuthorization,
  };
}

function rowOf(delivery: Delivery): DeliveryRow {
  return deliveryRow({ account: delivery.accountId, event: delivery.eventName }, toDeliveryRecord(delivery));
}

function viewOf(delivery: Delivery): DeliveryView {
  return { ...rowOf(delivery), made: delivery.attempts.map(toAttemptRecord).map(attemptView) };
}

function letterView({ origin, reason, detail, sender }: DeadLetter): LetterView {
  return {
    id: origin.messageId,
    sentAt: origin.sentAt === undefined ? null : isoTime(origin.sentAt),
    reason,
    detail,
    sender,
  };
}

function startView(facts: Awaited<ReturnType<typeof status.readStatus>>): StartView {
  const there = <Value>(part: Part<Value>): Value | undefined => (isUnread(part) ? undefined : part);
  const [queues, found, alarms, keys] = [
    there(facts.queues),
    there(facts.webhooks),
    there(facts.alarms),
    there(facts.keys),
  ];
  return {
    problems: facts.problems,
    queues: (queues ?? []).map(({ queue, waiting, inFlight, delayed }) => ({
      name: queue,
      waiting,
      inFlight,
      delayed,
    })),
    webhooks: [
      ...(found?.suspended ?? []).map(({ account, event, since }) => ({ account, event, what: 'suspenso', since })),
      ...(found?.failing ?? []).map(({ account, event, since }) => ({ account, event, what: 'failing', since })),
    ],
    alarms: alarms?.ringing ?? [],
    keys: keys ?? [],
    unread: [facts.queues, facts.webhooks, facts.keys, ...(facts.stacks ? [facts.alarms] : [])].flatMap(part =>
      isUnread(part) ? [part.unread] : [],
    ),
  };
}

function referenceOf(id: string, account: string | undefined, event: string | undefined) {
  if (account !== undefined && event !== undefined) return { deliveryId: deliveryIdOf(account, nameOf(event), id) };
  return id.startsWith('evt_') || id.startsWith('teste_') ? { deliveryId: id } : { messageId: id };
}

const day = 24 * 3_600_000;
