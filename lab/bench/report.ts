import { markdownTable } from '../../tools/support/markdown-table.ts';
import type { Percentiles } from '../../tools/support/statistics.ts';
import type { BundleResult } from './bundles.ts';
import type { BurstRow } from './bursts.ts';
import type { ComparisonRow, ComparisonSize } from './comparison.ts';
import { batchSize } from './consumer.ts';
import type { DeliveryResult } from './delivery.ts';
import type { FreshResult } from './fresh.ts';
import type { ServiceResult } from './service.ts';
import type { DeliverySize } from './throughput.ts';

/** Describes the sizes and import times of the bundles. */
export function describeBundles(bundles: readonly BundleResult[], coldRuns: number): string {
  return `Each function's production bundle beside two plain ones, with the same reader of credentials and all of the SDK: one imports
the same AWS SDK clients and does nothing else, the other also makes them, as any function must. Medians of ${coldRuns}
fresh processes each, in turn. Target: at most 430 KiB. Beside a bundle that does nothing no function comes under 1.15 (ADR 5).

${markdownTable(
  ['function', 'KiB', 'plain, KiB', 'import, ms', 'plain, ms', 'ratio', 'clients made, ms', 'ratio'],
  bundles.map(bundle => [
    bundle.name,
    fixed(bundle.kibibytes),
    fixed(bundle.plainKibibytes),
    fixed(bundle.importMs),
    fixed(bundle.plainImportMs),
    fixed(bundle.ratio, 2),
    fixed(bundle.madeImportMs),
    fixed(bundle.ratioMade, 2),
  ]),
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
export function describeDelivery(
  { rows, hanging, calls }: DeliveryResult,
  { rounds, batches, warmUp }: DeliverySize,
): string {
  const perDelivery = calls.reduce((sum, call) => sum + call.perDelivery, 0);
  const named = calls.map(call => `${fixed(call.perDelivery, 2)} × ${call.operation}`).join(', ');
  return `One process of the function DeliverFirst gets batches, one after the other, under the Lambda Runtime API; so does one process of
a plain function that does the least a delivery takes. Receivers answer after 2 ms where nothing else is said. Medians of
${rounds} rounds of ${batches} batches of ten (of ${batches * 4} batches of one) by each in turn, after ${warmUp} that are not counted; who is first changes
with the round. Times are from a batch's being handed over to its being acknowledged, of all rounds together.
Target: at most 2 DynamoDB calls per successful first attempt.

${markdownTable(
  [
    'what',
    'CPU per delivery, ms',
    'plain',
    'ratio',
    'p50, p95, p99 of a batch, ms',
    'plain',
    'a second',
    'plain',
    'ratio',
  ],
  rows.map(({ what, ours, plain, cpuRatio, speedRatio }) => [
    what,
    fixed(ours.cpuMs, 2),
    fixed(plain.cpuMs, 2),
    fixed(cpuRatio, 2),
    percentiles(ours.times),
    percentiles(plain.times),
    fixed(ours.perSecond, 0),
    fixed(plain.perSecond, 0),
    fixed(speedRatio, 2),
  ]),
)}

${markdownTable(
  ['what', 'figure'],
  [
    ['DynamoDB calls per successful first attempt', `${fixed(perDelivery, 2)} (${named})`],
    ['a receiver that never answers: its first batch is over after', `${fixed(hanging.firstBatchMs / 1_000)} s`],
    ['… its events are left to the slow lane after', `${fixed(hanging.movedAfterMs / 1_000)} s`],
    ['… CPU per attempt that times out', `${fixed(hanging.cpuMs)} ms`],
    ['… from then on, events moved to the slow lane a second', fixed(hanging.moved.perSecond, 0)],
    ['… CPU per event moved', `${fixed(hanging.moved.cpuMs, 2)} ms`],
    ['… batches of eight healthy events: p50, p95, p99', `${percentiles(hanging.alone.times)} ms`],
    ['… the same beside two of its events each: p50, p95, p99', `${percentiles(hanging.beside.times)} ms`],
  ],
)}

- *CPU* is the process's own, user and system, as \`/proc\` counts it, of this benchmark's processes only. Its receiver is an
  HTTPS server in another process, its store DynamoDB (dynalite) in a third: on two processors these, not the function,
  bound the deliveries a second when receivers are quick. With slower receivers a batch takes as long as its slowest one.
- *Plain* reads the same items in one call for a batch, POSTs over a kept connection, and writes the same item: no checks of
  the message, the URL or the address, no sealed credentials, no signature, no redaction, no log, no metrics.
- *A host each*: every event goes to another host, so that it pays for a connection and a TLS handshake of its own.
- *Real DNS, TLS to the store*: names are asked for over UDP of a name server on loopback, and DynamoDB is spoken to over TLS;
  elsewhere both are stood in for within the process.
- A batch is over when its slowest attempt is: one whose receiver hangs holds its process for the deadline of an attempt,
  and that is ${fixed((batchSize * 1_000) / hanging.firstBatchMs, 2)} attempts a second. It happens to what is taken up within the first seconds; then the webhook's events
  pass by without an attempt, and are the slow lane's.`;
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

/** Describes the first work of fresh processes. */
export function describeFresh({ firstBatch, firstLoginMs }: FreshResult, runs: number): string {
  return `Medians of ${runs} fresh processes each.

${markdownTable(
  ['what', 'ms', 'plain, ms', 'ratio'],
  [
    [
      'a batch of ten, from no process to its end',
      fixed(firstBatch.ours, 0),
      fixed(firstBatch.plain, 0),
      fixed(firstBatch.ratio, 2),
    ],
    ['the first login after loading, stores 5 ms away, with its hash', fixed(firstLoginMs, 0), '', ''],
  ],
)}`;
}

/** Token requests beside another implementation's. */
export function describeComparison(compared: readonly ComparisonRow[], { rounds, requests }: ComparisonSize): string {
  return `Processor time (user and system) of one server process per request, as \`process.cpuUsage\` counts it, requests one at a
time over HTTP on this machine. Medians of ${rounds} rounds of ${requests} requests to each server in turn. Target: a ratio of at most 0.5.

${markdownTable(
  ['request', 'Emissor, ms', 'oidc-provider, ms', 'ratio', 'oidc-provider in memory, ms', 'ratio'],
  compared.map(({ what, ours, theirs, theirsInMemory, ratio, ratioInMemory }) => [
    what === 'login' ? 'login, beyond the hash' : what,
    fixed(ours, 2),
    fixed(theirs, 2),
    fixed(ratio, 2),
    fixed(theirsInMemory, 2),
    fixed(ratioInMemory, 2),
  ]),
)}

- *Emissor* is the token function's production bundle behind a plain \`node:http\` server that turns requests into events, as
  API Gateway would. Its store is DynamoDB (dynalite, in another process) through the AWS SDK: two calls per refresh, four
  per login; the audit line and the metrics of each request are among its cost, and so are lockout and limits.
- *oidc-provider* 9.13.3 runs on its own koa server, in production mode: the password grant as a registered grant type,
  refresh tokens rotated, access tokens as JWTs. Over the same DynamoDB, through the same SDK, with client, user, grant and
  tokens read afresh: six calls per refresh, four per login. *In memory* the same records are in a \`Map\` of the process: no
  network, no serialising, nothing that outlives it. It knows no lockout, no limits, and logs nothing here.
- Both: ES256, client credentials in the body, argon2id with 19 MiB, two passes, one lane. The hash's result is remembered
  in both processes after the first time, so that logins are compared beyond the hash.
- What a call through the SDK costs (building, signing, sending, parsing) is by far the most of Emissor's time.`;
}

function fixed(value: number, digits = 1): string {
  return value.toFixed(digits);
}

function percentiles({ p50, p95, p99 }: Percentiles): string {
  return [p50, p95, p99].map(time => fixed(time)).join(', ');
}
