import { cpus } from 'node:os';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import type { Percentiles } from '../../tools/support/statistics.ts';
import type { BundleResult } from './bundles.ts';
import type { BurstRow } from './bursts.ts';
import type { CallResult } from './calls.ts';
import type { DeliveryResult } from './delivery.ts';
import type { FloodRow } from './floods.ts';
import type { ServiceResult } from './service.ts';

/** A row of the page: the measurement, its figure, and its ratio to a plain SDK client, if it has a ratio. */
export type Row = readonly [what: string, figure: string, ratio?: string];

/** Returns the page of a whole run. */
export function pageOf(date: string, rows: readonly Row[]): string {
  return `# Performance

Measured by \`npm run bench\` on ${date}, on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node.js ${process.version}. Medians of
several rounds. Processor time (CPU) is user and system time of the function's own processes. Milliseconds are this machine's: compare
ratios, to the plain client in the same run, or to another commit (\`npm run bench -- --against COMMIT\`).

${tableOf(rows)}

- *Plain client*: \`DynamoDBDocumentClient\` of lib-dynamodb with the SDK's defaults, making the same calls; for an import, a bundle that
  creates this client and KMS's.
- *Consumer*: one process of DeliverFirst that gets batches one after the other. Its receiver and tables are other processes.
- *Burst*: events of one account through a whole local run, to a receiver that answers after 20 ms. A shed event returns to the queue.
- *Flood*: POSTs of one process to a healthy receiver next to five connections that send more than they may. Target: at most 50 ms later.
`;
}

/** Returns the table of some rows. */
export function tableOf(rows: readonly Row[]): string {
  return markdownTable(
    ['what', 'figure', 'of the plain client'],
    rows.map(([what, figure, ratio = '']) => [what, figure, ratio]),
  );
}

/** Returns the row of calls to DynamoDB. */
export function callRows({ oursUs, plainUs, ratio }: CallResult): readonly Row[] {
  return [
    ['a call of DynamoDB, CPU', `${fixed(oursUs, 0)} µs (plain client: ${fixed(plainUs, 0)} µs)`, fixed(ratio, 2)],
  ];
}

/** Returns a row for the bundle of each function. */
export function bundleRows({ bundles, plainImportMs }: BundleResult): readonly Row[] {
  return bundles.map(({ name, kibibytes, importMs }) => {
    return [
      `bundle of ${name}, import`,
      `${fixed(kibibytes)} KiB, ${fixed(importMs)} ms`,
      fixed(importMs / plainImportMs, 2),
    ];
  });
}

/** Returns the rows about tokens in the whole service. */
export function serviceRows(service: ServiceResult): readonly Row[] {
  return [
    ['`npm start`, from the command to ready', `${fixed(service.readyMs / 1_000)} s`],
    ['first login, its function cold', `${fixed(service.coldLoginMs, 0)} ms`],
    ['login with its argon2id hash: p50, p95, p99', `${percentiles(service.warmLoginMs)} ms`],
    ['refresh: p50, p95, p99', `${percentiles(service.warmRefreshMs)} ms`],
    ['login, CPU', `${fixed(service.cpuPerLogin)} ms`],
    ['refresh, CPU', `${fixed(service.cpuPerRefresh)} ms`],
  ];
}

/** Returns the rows about one consumer process. */
export function deliveryRows({ rows, hanging }: DeliveryResult): readonly Row[] {
  return [
    ...rows.map(({ what, cpuMs, perSecond, times }): Row => {
      return [
        `consumer, ${what}`,
        `CPU ${fixed(cpuMs, 2)} ms, ${fixed(perSecond, 0)} a second, p50, p95, p99 ${percentiles(times)} ms`,
      ];
    }),
    ['consumer, an attempt that times out', `CPU ${fixed(hanging.perAttempt)} ms`],
    ['consumer, an event that is moved to the slow lane', `CPU ${fixed(hanging.perMove, 2)} ms`],
  ];
}

/** Returns a row for each burst. */
export function burstRows(rows: readonly BurstRow[]): readonly Row[] {
  return rows.map(({ events, perSecond, cpuPerDelivery, shed, moved }) => {
    const figure = `CPU ${fixed(cpuPerDelivery, 2)} ms, ${fixed(perSecond, 0)} a second, ${shed} shed, ${moved} moved`;
    return [`burst of ${events.toLocaleString('en')} events`, figure];
  });
}

/** Returns a row for each kind of flood. */
export function floodRows(rows: readonly FloodRow[]): readonly Row[] {
  return rows.map(({ what, aloneP99, floodedP99, later }) => {
    return [`flood, ${what}: p99`, `${fixed(later)} ms later (${fixed(floodedP99)}, alone ${fixed(aloneP99)})`];
  });
}

function fixed(value: number, digits = 1): string {
  return value.toFixed(digits);
}

function percentiles({ p50, p95, p99 }: Percentiles): string {
  return [p50, p95, p99].map(time => fixed(time)).join(', ');
}
