import { makeRandom } from '../../tools/support/random.ts';
import { type ExtraWaits, extraWaits, worstOf } from './extra-waits.ts';
import type { Places } from './lane-consumer.ts';
import { type QuickLanesResult, simulateQuickLanes } from './quick-lanes.ts';
import { healthyTenants, type Scenario, scenarios } from './scenarios.ts';
import type { ServicePlan, Tenant } from './service-plan.ts';

/** One run of several attacks: the same service, the same random numbers, the same moment of the beginning. */
export interface MeasureJob {
  readonly plan: ServicePlan;
  readonly seed: number;
  /** The moment when the attacks begin, in milliseconds: 0 is an idle service. */
  readonly from: number;
  readonly attacks: readonly string[];
  readonly attackLength: number;
}

/** The measurements beside one attack. */
export interface Measured {
  readonly attack: string;
  readonly first: ExtraWaits;
  readonly retries: ExtraWaits;
  readonly deadLetters: number;
}

/** Measures attacks, each in a run of its own, against one run without any. */
export function measure({ plan, seed, from, attacks, attackLength }: MeasureJob): Measured[] {
  const period = { from, until: from + attackLength };
  const alone = run([]);
  return attacks.map(attack => {
    const beside = run(scenarioOf(attack).tenants(period, makeRandom(2_000 + seed)));
    return { attack, ...extraWaits(beside, alone, period), deadLetters: beside.deadLetters };
  });

  function run(attackers: readonly Tenant[]): QuickLanesResult {
    const tenants = [...healthyTenants(period, makeRandom(seed)), ...attackers];
    return simulateQuickLanes(plan, tenants, period, makeRandom(1_000 + seed));
  }
}

/** Returns the worst of what was measured of one attack. */
export function worstMeasured(all: readonly Measured[]): Measured {
  return all.reduce((one, other) => ({
    attack: one.attack,
    first: worstOf(one.first, other.first),
    retries: worstOf(one.retries, other.retries),
    deadLetters: one.deadLetters + other.deadLetters,
  }));
}

/** Returns the batches that a lane's event source has the function work on: five at first, 300 more a minute while messages wait. */
export function grownPlaces(most: number): Places {
  return { atFirst: 5, most, growth: 5 };
}

/**
 * The same with two provisioned pollers, which work on ten batches each, and add 1,000 a minute.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
 */
export function provisionedPlaces(most: number): Places {
  return { atFirst: 20, most, growth: 1_000 / 60 };
}

function scenarioOf(name: string): Scenario {
  const found = scenarios.find(scenario => scenario.name === name);
  if (!found) throw new Error(`No attack is called "${name}".`);
  return found;
}
