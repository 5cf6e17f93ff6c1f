import type { World } from '../make-world.ts';
import { judgeDeliveries } from './deliveries.ts';
import { judgeMetrics } from './metrics.ts';
import type { Judgement, Violation } from './violation.ts';

/** Judges a world: all along, and at its end. */
export function makeJudge(world: World, began: number) {
  const violations = new Map<string, Violation>();
  const deliveries = judgeDeliveries(world, began, violate);
  const judgements: readonly Judgement[] = [deliveries, judgeMetrics(world, violate)];
  return {
    look() {
      for (const { look } of judgements) look?.();
    },
    judgeEnd() {
      for (const { judgeEnd } of judgements) judgeEnd?.();
    },
    violations: () => [...violations.values()],
    worstLateness: deliveries.worstLateness,
  };

  function violate(what: string, deliveryId?: string): void {
    violations.set(`${what} ${deliveryId ?? ''}`, { what, ...(deliveryId !== undefined && { deliveryId }) });
  }
}
