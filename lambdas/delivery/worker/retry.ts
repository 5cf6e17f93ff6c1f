import type { SQSRecord } from 'aws-lambda';
import type { Clock } from '../../platform/clock.ts';
import { type Delivery, type Mover, settled, type WaitingDelivery } from '../delivery.ts';
import type { MoveToDeadLetters } from '../intake/dead-letters.ts';
import type { Admit } from '../isolation/admission.ts';
import type { SendAgain } from '../isolation/send-again.ts';
import type { JudgeTurn } from '../isolation/slow-lane-turn.ts';
import type { Lane } from '../lane-routing.ts';
import { type AttemptMessage, attemptMessage } from '../queues.ts';
import { slotOf, wasCancelledBefore } from '../replay/replay.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { StoreChange } from '../store/store-unless-stale.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { unattemptedEndOf } from '../transitions.ts';
import type { ProcessRecord, RecordOutcome } from './batch-consumer.ts';
import { type DescribeMessage, receiveCountOf } from './message-visibility.ts';
import type { MessageInHand, ProcessDelivery } from './process-delivery.ts';
import type { Suspensions } from './suspensions.ts';
import type { FindWebhookState } from './webhook-state.ts';

/**
 * Returns the function that makes the attempt that a message of the retry or slow queue names: parse it, admit it, find the
 * delivery and its webhook, process the delivery. Idempotent: a message whose attempt was recorded already is dropped as stale.
 */
export function makeRetry(dependencies: RetryDependencies): ProcessRecord {
  const { admit, findWebhookState, judgeTurn, processDelivery, sendAgain, suspensions, store, replays } = dependencies;
  const { moveToDeadLetters, attemptTimeoutMs, lane, now, log, count } = dependencies;
  /** The attempts in hand. The sweeper sends a message again that only waits: where its lane lags, all of one attempt come together. */
  const inHand = new Set<string>();

  return async function retry(record, onAttempt) {
    const message = parseAttemptMessage(record.body);
    if (!message) {
      await moveToDeadLetters(record, { reason: 'malformed', detail: 'names no attempt' }, () => {
        count('DeadLettered');
        log.error('retry.refused', { messageId: record.messageId, reason: 'malformed' });
      });
      return 'processed';
    }
    const { id, accountId, eventName, attempt } = message;
    const key = `${id} ${attempt}`;
    // Not acknowledged: there is no outcome yet. When it comes back there is, and it is stale.
    if (inHand.has(key)) return { hiddenFor: attemptTimeoutMs };
    const receiveCount = receiveCountOf(record);
    const admission = admit(message, receiveCount);
    if (admission.outcome === 'shed') {
      if (receiveCount === 1)
        log.info('delivery.shed', { deliveryId: id, account: accountId, event: eventName, attempt });
      return 'shed';
    }
    const { mayAttempt, leave } = admission;
    inHand.add(key);
    const mover = { movedBy: attempt, moverId: record.messageId };
    return attemptDelivery({ ...message, ...mover, receiveCount }, { mayAttempt, onAttempt, mover }).finally(() => {
      inHand.delete(key);
      leave();
    });
  };

  /** Goes by what stands there now where the delivery changed before it was moved, held or ended: no other message may come. */
  async function attemptDelivery(message: ReceivedMessage, inHand: MessageInHand): Promise<RecordOutcome> {
    for (let tries = 1; ; tries++) {
      try {
        return await attemptAsRead(message, inHand);
      } catch (error) {
        if (!(error instanceof DeliveryChangedError) || tries === maxTries) throw error;
      }
    }
  }

  async function attemptAsRead(message: ReceivedMessage, inHand: MessageInHand): Promise<RecordOutcome> {
    const { id, accountId, eventName, attempt } = message;
    const { delivery, webhook, slowness } = await findWebhookState(id, accountId, eventName);
    if (!delivery || !isDueIn(lane, delivery, message, now())) {
      if (delivery && lane === 'retry' && (await sendAgain(delivery, message))) return 'processed';
      if (delivery) await suspensions.resume(delivery, attempt, webhook);
      count('StaleDropped');
      log.info('delivery.stale', { deliveryId: id, account: accountId, event: eventName, attempt });
      return 'processed';
    }
    const storeChange: StoreChange = async after => {
      if (await store.update(delivery, after)) return true;
      if (after.attempt === delivery.attempt) throw new DeliveryChangedError();
      return false;
    };
    const withdrawn = webhook?.webhookId === delivery.webhookId ? await stateBeforeReplay(delivery) : undefined;
    if (withdrawn) {
      await storeChange(settled(delivery, withdrawn, now()));
      log.info('delivery.replay_cancelled', { ...describeDelivery(delivery), state: withdrawn });
      return 'processed';
    }
    if (!unattemptedEndOf(delivery, webhook)) {
      const turn = await judgeTurn(delivery, slowness, storeChange, message);
      if (turn === 'too_old') await suspensions.failTooOld(delivery, webhook, storeChange);
      if (turn !== 'now') return typeof turn === 'string' ? 'processed' : turn;
    }
    await processDelivery(delivery, { webhook, slowness }, storeChange, inHand);
    return 'processed';
  }

  /** Returns the state that a delivery goes back to where its replay was cancelled before its slot came. */
  async function stateBeforeReplay(delivery: Delivery): Promise<'failed' | 'held' | undefined> {
    const { accountId, eventName, replayId } = delivery;
    const slot = slotOf(delivery);
    if (slot === undefined || replayId === undefined) return undefined;
    const replay = (await replays.find(accountId, eventName, replayId))?.replay;
    return replay && wasCancelledBefore(replay, slot) ? replay.wanted : undefined;
  }
}

/** Describes the delivery that a message of the retry or slow queue names. */
export function describeAttemptMessage({ body }: SQSRecord): ReturnType<DescribeMessage> {
  const message = parseAttemptMessage(body);
  return message ? { deliveryId: message.id, account: message.accountId, event: message.eventName } : {};
}

interface RetryDependencies extends DeliveryTelemetry {
  readonly admit: Admit;
  readonly findWebhookState: FindWebhookState;
  readonly judgeTurn: JudgeTurn;
  readonly processDelivery: ProcessDelivery;
  readonly sendAgain: SendAgain;
  readonly suspensions: Pick<Suspensions, 'resume' | 'failTooOld'>;
  readonly store: Pick<DeliveryStore, 'update'>;
  readonly replays: Pick<ReplayStore, 'find'>;
  /** Throws where the dead-letter queue does not take the message. */
  readonly moveToDeadLetters: MoveToDeadLetters;
  /** The lane whose queue is consumed. */
  readonly lane: Lane;
  /** The timeout of an attempt, in milliseconds. */
  readonly attemptTimeoutMs: number;
  readonly now: Clock;
}

function parseAttemptMessage(body: string): AttemptMessage | undefined {
  try {
    return attemptMessage.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

/** Thrown where a delivery has changed since it was read, though its attempt was not recorded. */
class DeliveryChangedError extends Error {
  override readonly name = 'DeliveryChangedError';
}

/** A message of the retry or slow queue, its id, and how many times it was received by now. */
type ReceivedMessage = AttemptMessage & Pick<Mover, 'moverId'> & { readonly receiveCount: number };

/** The most times that a delivery is read for one message while others change it. */
const maxTries = 3;

/**
 * A retry message is also stale if its delivery moved to the slow lane, or if a resend came after it. One that comes before its
 * attempt is due is of an earlier delivery: its account was deleted, and the publisher sent the event again.
 */
function isDueIn(lane: Lane, delivery: Delivery, message: AttemptMessage, now: number): delivery is WaitingDelivery {
  const { attempt, wait, broughtForward } = delivery;
  if (!wait || attempt !== message.attempt) return false;
  if (message.broughtForwardAt !== broughtForward?.at) return false;
  return wait.slowLane === undefined ? wait.nextAttemptAt <= now + clockTolerance : lane === 'slow';
}

/** Clocks of processes differ. Milliseconds. */
const clockTolerance = 500;
