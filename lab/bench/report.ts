import { cpus } from 'node:os';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import type { Percentiles } from '../../tools/support/statistics.ts';
import type { BundleRow } from './bundles.ts';
import type { BurstRow } from './bursts.ts';
import type { CallResult } from './calls.ts';
import type { DeliveryResult } from './delivery.ts';
import type { FloodRow } from './floods.ts';
import type { ServiceResult } from './service.ts';

/** A row of the table, with a measurement, its result, and its optional ratio to a plain SDK client. */
export type Row = readonly [measurement: string, result: string, ratio?: string];

/** Returns the content of docs/performance.md for a complete run. */
export function pageOf(date: string, rows: readonly Row[]): string {
  return `# Performance

\`npm run bench\` measured these figures on ${date}, on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'} with Node.js ${process.version}. Most
are medians over several rounds. Processor time (CPU) is the user and system time of the function's own processes. Times depend on the computer,
and can double between two runs. Compare ratios, to the plain client or to another commit (\`npm run bench -- --against COMMIT\`).

${tableOf(rows)}

- *Plain client*: \`DynamoDBDocumentClient\` from lib-dynamodb with the SDK's defaults, which makes the same calls. For imports, it is a
  bundle that creates this client and a KMS client.
- *Consumer*: one process of DeliverFirst that receives batches sequentially. The receiver and the tables run in other processes.
- *Events*: one account's events in a complete local run. The receiver responds after 20 ms. A shed event returns to the queue.
- *Flood*: POSTs from one process to a healthy receiver while five other connections exceed their byte budget. The target is a delay of
  at most 50 ms.
`;
}

/** Returns the rows as a Markdown table. */
export function tableOf(rows: readonly Row[]): string {
  return markdownTable(
    ['measurement', 'result', 'ratio to the plain client'],
    rows.map(([measurement, result, ratio = '']) => [measurement, result, ratio]),
  );
}

export function callRows({ productUs, plainUs, ratio }: CallResult): readonly Row[] {
  return [['DynamoDB call, CPU', `${fixed(productUs, 0)} µs (plain client: ${fixed(plainUs, 0)} µs)`, fixed(ratio, 2)]];
}

export function bundleRows(rows: readonly BundleRow[]): readonly Row[] {
  return rows.map(({ name, kibibytes, importMs, ratio }) => {
    return [`${name} bundle, size and import`, `${fixed(kibibytes)} KiB, ${fixed(importMs)} ms`, fixed(ratio, 2)];
  });
}

export function serviceRows(service: ServiceResult): readonly Row[] {
  return [
    ['`npm start`, until ready', `${fixed(service.readyMs / 1_000)} s`],
    ['first login, with a cold function', `${fixed(service.coldLoginMs, 0)} ms`],
    ['login with argon2id: p50, p95, p99', `${percentiles(service.warmLoginMs)} ms`],
    ['refresh: p50, p95, p99', `${percentiles(service.warmRefreshMs)} ms`],
    ['login, CPU', `${fixed(service.cpuPerLogin)} ms, ${fixed(service.cpuPerLoginWithoutHash)} ms without the hash`],
    ['refresh, CPU', `${fixed(service.cpuPerRefresh)} ms`],
  ];
}

export function deliveryRows({ rows, hanging }: DeliveryResult): readonly Row[] {
  return [
    ...rows.map(({ scenario, cpuMs, perSecond, times }): Row => {
      return [
        `consumer, ${scenario}`,
        `CPU ${fixed(cpuMs, 2)} ms, ${fixed(perSecond, 0)} a second, p50, p95, p99 ${percentiles(times)} ms`,
      ];
    }),
    ['consumer, attempt that times out', `CPU ${fixed(hanging.perAttempt)} ms`],
    ['consumer, event moved to the slow lane', `CPU ${fixed(hanging.perMove, 2)} ms`],
  ];
}

export function burstRows(rows: readonly BurstRow[]): readonly Row[] {
  return rows.map(({ load, perSecond, cpuPerDelivery, shed, moved, memory }) => {
    const speed = `CPU ${fixed(cpuPerDelivery, 2)} ms, ${fixed(perSecond, 0)} a second`;
    return [load, `${speed}, ${shed} shed, ${moved} moved, functions' memory ${fixed(memory, 0)} MiB`];
  });
}

export function floodRows(rows: readonly FloodRow[]): readonly Row[] {
  return rows.map(({ flood, aloneP99, floodedP99, delayMs }) => {
    return [`flood, ${flood}: p99`, `${fixed(delayMs)} ms later (${fixed(floodedP99)}, alone ${fixed(aloneP99)})`];
  });
}

function fixed(value: number, digits = 1): string {
  return value.toFixed(digits);
}

function percentiles({ p50, p95, p99 }: Percentiles): string {
  return [p50, p95, p99].map(time => fixed(time)).join(', ');
}
