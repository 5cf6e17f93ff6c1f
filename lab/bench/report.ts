import { markdownTable } from '../../tools/support/markdown-table.ts';
import type { Percentiles } from '../../tools/support/statistics.ts';
import type { BundleResult } from './bundles.ts';
import type { BurstRow } from './bursts.ts';
import type { DeliveryResult, DeliverySize } from './delivery.ts';
import { type FloodRow, type FloodSize, floodsAtOnce } from './floods.ts';
import type { ServiceResult } from './service.ts';

/** Describes the sizes and import times of the bundles. */
export function describeBundles(bundles: readonly BundleResult[], coldRuns: number): string {
  return `Each function's production bundle. Medians of ${coldRuns} fresh processes each. Target: at most 430 KiB.

${markdownTable(
  ['function', 'KiB', 'import, ms'],
  bundles.map(({ name, kibibytes, importMs }) => [name, fixed(kibibytes), fixed(importMs)]),
)}`;
}

/** Describes the times of tokens in the whole service. */
export function describeService(service: ServiceResult): string {
  return markdownTable(
    ['what', 'figure'],
    [
      ['from the command to ready, synthesis included', `${fixed(service.readyMs / 1_000)} s`],
      ['first login, its function cold', `${fixed(service.coldLoginMs, 0)} ms`],
      ['login, warm (an argon2id hash of 19 MiB among it): p50, p95, p99', `${percentiles(service.warmLoginMs)} ms`],
      ['refresh, warm: p50, p95, p99', `${percentiles(service.warmRefreshMs)} ms`],
      ['processor time of the function per login', `${fixed(service.cpuPerLogin)} ms`],
      ['processor time of the function per refresh', `${fixed(service.cpuPerRefresh)} ms`],
    ],
  );
}

/** Describes the throughput of one consumer process. */
export function describeDelivery({ rows, hanging }: DeliveryResult, { rounds, batches, warmUp }: DeliverySize): string {
  return `One process of the function DeliverFirst gets batches, one after the other, as in a local run. Receivers answer after 2 ms
where nothing else is said. Medians of ${rounds} rounds of ${batches} batches of ten (of ${batches * 4} batches of one), after ${warmUp} that are not counted. Times are
from a batch's being handed over to its being acknowledged, of all rounds together.

${markdownTable(
  ['what', 'CPU per delivery, ms', 'p50, p95, p99 of a batch, ms', 'a second'],
  rows.map(({ what, cpuMs, perSecond, times }) => [what, fixed(cpuMs, 2), percentiles(times), fixed(perSecond, 0)]),
)}

${markdownTable(
  ['a receiver that never answers', 'CPU, ms'],
  [
    ['an attempt that times out', fixed(hanging.perAttempt)],
    ['from then on, an event that is moved to the slow lane', fixed(hanging.perMove, 2)],
  ],
)}

- *CPU* is the process's own, user and system, as \`/proc\` counts it, of this benchmark's processes only. Its receiver is an
  HTTPS server in another process, its store, DynamoDB of \`packages/cloud\`, in a third: on two processors these, not the function,
  bound the deliveries a second when receivers are quick. With slower receivers a batch takes as long as its slowest one.
- *A host each*: every event goes to another host, so that it pays for a connection and a TLS handshake of its own.
- Names are resolved within the process. How many calls of DynamoDB a delivery takes is counted in [\`cost.md\`](cost.md).`;
}

/** Describes bursts of events. */
export function describeBursts(rows: readonly BurstRow[]): string {
  return `Events of one account, published as fast as the queue takes them, to a receiver that answers after 20 ms. Processor time is that of
the functions' processes alone; queue, store and receiver share the machine with them. An event is shed where it has to come again, and
moved where another lane makes its attempt.

${markdownTable(
  ['events', 'a second', 'CPU per delivery, ms', 'shed', 'moved'],
  rows.map(({ events, perSecond, cpuPerDelivery, shed, moved }) => [
    String(events),
    fixed(perSecond, 0),
    fixed(cpuPerDelivery, 2),
    String(shed),
    String(moved),
  ]),
)}`;
}

/** Describes how floods delay others. */
export function describeFloods(rows: readonly FloodRow[], { rounds, posts }: FloodSize): string {
  return `POSTs of one process to a healthy receiver, alone and next to ${floodsAtOnce} connections that flood: over new and kept connections in
turn, one each 15 ms. A flood sends at once more than a connection may bring, and is repeated 50 ms after its end. The 99th percentile of
${posts} POSTs in milliseconds, median of ${rounds} rounds. Target: at most 50 ms later.

${markdownTable(
  ['flood', 'alone', 'next to it', 'later'],
  rows.map(({ what, aloneP99, besideP99, later }) => [what, fixed(aloneP99), fixed(besideP99), fixed(later)]),
)}`;
}

function fixed(value: number, digits = 1): string {
  return value.toFixed(digits);
}

function percentiles({ p50, p95, p99 }: Percentiles): string {
  return [p50, p95, p99].map(time => fixed(time)).join(', ');
}
