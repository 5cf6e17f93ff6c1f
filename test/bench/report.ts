import type { BundleFigures } from './bundles.ts';
import type { ComparisonRow, ComparisonSize } from './comparison.ts';
import { batchSize } from './consumer.ts';
import type { DeliveryFigures, DeliverySize } from './delivery.ts';
import { table } from './figures.ts';
import type { ServiceFigures } from './service.ts';

const fixed = (value: number, digits = 1): string => value.toFixed(digits);

/** What the bundles weigh, and how long they take to import. */
export const describeBundles = (bundles: readonly BundleFigures[], coldRuns: number): string =>
  `Each function's production bundle beside a plain bundle that imports the same AWS SDK clients, and nothing else, with the
default credential provider. Medians of ${coldRuns} fresh processes each. Targets: at most 430 KiB, ratio at most 1.0;
for Token at most 0.9.

${table(
  ['function', 'KiB', 'plain SDK, KiB', 'import, ms', 'plain SDK, ms', 'ratio'],
  bundles.map(({ name, kibibytes, plainKibibytes, importMs, plainImportMs, ratio }) => [
    name,
    fixed(kibibytes),
    fixed(plainKibibytes),
    fixed(importMs),
    fixed(plainImportMs),
    fixed(ratio, 2),
  ]),
)}`;

/** What tokens cost in the whole service. */
export const describeService = (service: ServiceFigures): string =>
  table(
    ['what', 'figure'],
    [
      ['from the command to ready, synthesis included', `${fixed(service.readyMs / 1_000)} s`],
      ['first login, its function cold', `${fixed(service.coldLoginMs, 0)} ms`],
      ['login, warm (an argon2id hash of 19 MiB among it)', `${fixed(service.warmLoginMs)} ms`],
      ['refresh, warm', `${fixed(service.warmRefreshMs)} ms`],
      ['processor time of the function per login', `${fixed(service.cpuPerLogin)} ms`],
      ['processor time of the function per refresh', `${fixed(service.cpuPerRefresh)} ms`],
    ],
  );

/** What one consumer process makes of deliveries. */
export const describeDelivery = (
  { rows, hanging, calls }: DeliveryFigures,
  { rounds, batches, warmUp }: DeliverySize,
): string => {
  const perDelivery = calls.reduce((sum, call) => sum + call.perDelivery, 0);
  const named = calls.map(call => `${fixed(call.perDelivery, 2)} × ${call.operation}`).join(', ');
  return `One process of the function Deliver gets batches of ${batchSize}, one after the other, under the Lambda Runtime API; so does one
process of a plain function that does the least a delivery takes. Medians of ${rounds} rounds of ${batches * batchSize} deliveries by each in
turn, after ${warmUp * batchSize} that are not counted. Target: at most 2 DynamoDB calls per successful first attempt.

${table(
  ['receiver answers after', 'CPU per delivery, ms', 'plain, ms', 'ratio', 'deliveries a second', 'plain', 'ratio'],
  rows.map(({ answersAfter, ours, plain, cpuRatio, speedRatio }) => [
    `${answersAfter} ms`,
    fixed(ours.cpuMs, 2),
    fixed(plain.cpuMs, 2),
    fixed(cpuRatio, 2),
    fixed(ours.perSecond, 0),
    fixed(plain.perSecond, 0),
    fixed(speedRatio, 2),
  ]),
)}

${table(
  ['what', 'figure'],
  [
    ['DynamoDB calls per successful first attempt', `${fixed(perDelivery, 2)} (${named})`],
    ['a receiver that never answers: its first batch is over after', `${fixed(hanging.firstBatchMs / 1_000)} s`],
    ['… its events are left to the slow lane after', `${fixed(hanging.movedAfterMs / 1_000)} s`],
    ['… CPU per attempt that times out', `${fixed(hanging.cpuMs)} ms`],
    ['… from then on, events moved to the slow lane a second', fixed(hanging.moved.perSecond, 0)],
    ['… CPU per event moved', `${fixed(hanging.moved.cpuMs, 2)} ms`],
  ],
)}

- *CPU* is the process's own, user and system, as \`/proc\` counts it. Its receiver is an HTTPS server in another process, its
  store DynamoDB (dynalite) in a third: on two processors these, not the function, bound the deliveries a second when
  receivers are quick. With slower receivers a batch takes as long as its slowest one.
- *Plain* reads the same two items in one call, POSTs over a kept connection, and writes the same item: no checks of the
  message, the URL or the address, no sealed credentials, no signature, no redaction, no log, no metrics.
- A batch is over when its slowest attempt is: one whose receiver hangs holds its process for the deadline of an attempt,
  and that is ${fixed((batchSize * 1_000) / hanging.firstBatchMs, 2)} attempts a second. It happens to what is taken up within the first seconds; then the webhook's events
  pass by without an attempt, and are the slow lane's.`;
};

/** Token requests beside another implementation's. */
export const describeComparison = (compared: readonly ComparisonRow[], { rounds, requests }: ComparisonSize): string =>
  `Processor time (user and system) of one server process per request, as \`process.cpuUsage\` counts it, requests one at a
time over HTTP on this machine. Medians of ${rounds} rounds of ${requests} requests to each server in turn. Target: a ratio of at most 0.5.

${table(
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
  API Gateway would. Its store is DynamoDB (dynalite, in another process) through the AWS SDK: two calls per refresh, five
  per login; the audit line and the metrics of each request are among its cost, and so are lockout and limits.
- *oidc-provider* 9.13.3 runs on its own koa server, in production mode: the password grant as a registered grant type,
  refresh tokens rotated, access tokens as JWTs. Over the same DynamoDB, through the same SDK, with client, user, grant and
  tokens read afresh: six calls per refresh, four per login. *In memory* the same records are in a \`Map\` of the process: no
  network, no serialising, nothing that outlives it. It knows no lockout, no limits, and logs nothing here.
- Both: ES256, client credentials in the body, argon2id with 19 MiB, two passes, one lane. The hash's result is remembered
  in both processes after the first time, so that logins are compared beyond the hash.
- What a call through the SDK costs (building, signing, sending, parsing) is by far the most of Emissor's time.`;
