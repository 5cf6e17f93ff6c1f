import { median, type Percentiles, percentilesOf, rotated } from '../../tools/support/statistics.ts';
import type { Series } from './consumer.ts';

/** A consumer's throughput in a scenario: medians over the rounds, and percentiles of all its batches' times. */
export interface Throughput {
  /** Processor time per delivery in milliseconds. */
  readonly cpuMs: number;
  readonly perSecond: number;
  /** From a batch's being handed over to its being acknowledged. */
  readonly times: Percentiles;
}

/** The size of a measurement, in batches of ten; scenarios with batches of one have four times as many. */
export interface DeliverySize {
  readonly rounds: number;
  /** Batches in a row for one consumer, then for the other. */
  readonly batches: number;
  /** Batches that are not measured, so that both consumers' code is compiled. */
  readonly warmUp: number;
}

/** Measures each contender in every round, in rotating order. The first batch of a turn, which opens connections again, does not count. */
export async function alternate<Name extends string>(
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

/** Processor time per delivery of a series, in milliseconds. */
export function cpuPerDelivery({ cpuMs, deliveries }: Series): number {
  return cpuMs / deliveries;
}

/** Deliveries a second while a series went on. */
export function perSecond({ times, deliveries }: Series): number {
  return (deliveries * 1_000) / times.reduce((sum, time) => sum + time, 0);
}

/** Returns the throughput of several rounds. */
export function throughputOf(rounds: readonly Series[]): Throughput {
  return {
    cpuMs: median(rounds.map(cpuPerDelivery)),
    perSecond: median(rounds.map(perSecond)),
    times: percentilesOf(rounds.flatMap(({ times }) => times)),
  };
}
