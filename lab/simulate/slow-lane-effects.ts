import {
  countsStill,
  isSlow,
  slotInterval,
  withDuration,
  withSlowAttempts,
  withSlowDns,
} from '../../lambdas/delivery/isolation/slowness.ts';
import { hangsAfter, slowAfter } from '../../lambdas/delivery/limits.ts';
import type { Random } from '../../tools/support/random.ts';
import { latency } from './costs.ts';
import type { SimulatedMessage } from './service-plan.ts';
import type { SimulatedTables } from './simulated-tables.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * Returns what makes an attempt in the slow lane, by a slot of a series: one that counts no more is moved, as `slow-lane-turn.ts`
 * does. Of that lane only what its attempts show of a receiver matters to the quick
 * lanes: how long it takes, whether it is still slow, and the retries of what failed.
 */
export function makeSlowLaneEffects(
  time: VirtualTime,
  tables: SimulatedTables<SimulatedMessage>,
  slowRate: number,
  random: Random,
  retryLater: (message: SimulatedMessage) => void,
): (message: SimulatedMessage, slotSeries: number) => void {
  /** The last time that the attempts at each webhook were stored: about once a second. */
  const storedAt = new Map<string, number>();

  return attemptInSlowLane;

  function attemptInSlowLane(message: SimulatedMessage, slotSeries: number): void {
    const { slowness, slots } = tables.recordOf(message.tenant.webhook);
    if (!isSlow(slowness) || countsStill(slots, slotSeries, slotInterval(slowness, slowRate))) attempt(message);
    else move(message);
  }

  /** Slots are reserved and stored first; the time until the whole second at which the message comes back matters to nobody else. */
  function move(message: SimulatedMessage): void {
    const { webhook } = message.tenant;
    tables.reserve(webhook, 1, reserved => {
      if (!reserved) tables.beginWaiting(webhook, message, nothing);
      else {
        const at = Math.max(reserved.at, time.now() + latency.write + latency.send);
        time.at(at, () => attemptInSlowLane(message, reserved.series));
      }
    });
  }

  function attempt(message: SimulatedMessage): void {
    const { webhook } = message.tenant;
    const { resolves, answers, isSuccess } = message.tenant.behave(random, message, time.now());
    const took = Math.min(answers, deadline - resolves);
    const start = time.now() + resolves;
    if (resolves > slowAfter) learn(webhook, slowness => withSlowDns(slowness, time.now()));
    if (took > slowAfter) {
      time.at(start + slowAfter, () => {
        learn(webhook, slowness => withSlowAttempts(slowness, { slow: 1, quick: 0 }, time.now()));
      });
    }
    if (took > hangsAfter) {
      time.at(start + hangsAfter, () => {
        tables.changeSlowness(webhook, slowness => withDuration(slowness, deadline, time.now()), nothing);
      });
    }
    time.at(start + took, () => {
      if (took <= hangsAfter) {
        tables.changeSlowness(webhook, slowness => withDuration(slowness, took, time.now()), nothing);
      }
      if (isSuccess && took <= slowAfter) tables.recover(webhook);
      if (!isSuccess) retryLater(message);
    });
  }

  function learn(webhook: string, by: Parameters<SimulatedTables<SimulatedMessage>['changeSlowness']>[1]): void {
    if (time.now() - (storedAt.get(webhook) ?? Number.NEGATIVE_INFINITY) < 1_000) return;
    storedAt.set(webhook, time.now());
    tables.changeSlowness(webhook, by, nothing);
  }
}

const deadline = 15_000;

function nothing(): void {}
