import { median, type Percentiles, percentilesOf, rotated } from '../support/statistics.ts';
import type { Series } from './consumer.ts';

/** What a consumer makes of a scenario: medians over the rounds, and the spread of all its batches' times. */
export interface Pace {
  /** Processor time per delivery in milliseconds. */
  readonly cpuMs: number;
  readonly perSecond: number;
  /** From a batch's being handed over to its being acknowledged. */
  readonly times: Percentiles;
}

/** How much is measured, in batches of ten; of batches of one there are four times as many. */
export interface DeliverySize {
  readonly rounds: number;
  /** In a row to our consumer, and to the plain one. */
  readonly batches: number;
  /** Before anything is measured, so that both consumers' code is compiled. */
  readonly warmUp: number;
}

/** Lets each do so many batches in each round, another one first each time; what opens connections again is not counted. */
export async function inTurn<Name extends string>(
  contenders: Readonly<Record<Name, (batches: number) => Promise<Series>>>,
  { rounds, batches, warmUp }: DeliverySize,
): Promise<Record<Name, Series[]>> {
  const names = Object.keys(contenders) as Name[];
  const measured = Object.fromEntries(names.map(name => [name, [] as Series[]])) as Record<Name, Series[]>;
  for (const name of names) await contenders[name](warmUp);
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) {
      await contenders[name](1);
      measured[name].push(await contenders[name](batches));
    }
  }
  return measured;
}

/** Processor time of one of a series' deliveries, in milliseconds. */
export function cpuPerDelivery({ cpuMs, deliveries }: Series): number {
  return cpuMs / deliveries;
}

/** Deliveries a second while a series went on. */
export function perSecond({ times, deliveries }: Series): number {
  return (deliveries * 1_000) / times.reduce((sum, time) => sum + time, 0);
}

/** What several rounds come to. */
export function paceOf(rounds: readonly Series[]): Pace {
  return {
    cpuMs: median(rounds.map(cpuPerDelivery)),
    perSecond: median(rounds.map(perSecond)),
    times: percentilesOf(rounds.flatMap(({ times }) => times)),
  };
}
