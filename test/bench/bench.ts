/**
 * `npm run bench`: what the functions weigh and cost, written to docs/performance.md. Ratios are taken within one run
 * and hold between machines; milliseconds are this machine's.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { measureBundles } from './bundles.ts';
import { measureComparison } from './comparison.ts';
import { table } from './figures.ts';
import { measureService } from './service.ts';

const coldRuns = 15;
const requests = 100;
const comparison = { rounds: 10, requests: 200, warmUp: 800 };

const say = (line: string): void => console.error(line);
const fixed = (value: number, digits = 1): string => value.toFixed(digits);

say(`Bundles and cold imports: ${coldRuns} processes each …`);
const bundles = measureBundles(coldRuns);
say(`The whole service: ${requests} logins and refreshes, ${5 * requests} deliveries …`);
const service = await measureService(requests);
say(`Beside oidc-provider: ${comparison.rounds} rounds of ${comparison.requests} refreshes and logins each …`);
const compared = await measureComparison(comparison);

const document = `# Performance

Written by \`npm run bench\` on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node.js ${process.version}.
Ratios compare two things measured in turn in the same run; they hold between machines. Milliseconds are this machine's.

## Bundles and cold start
Each function's production bundle beside a plain bundle that imports the same AWS SDK clients, and nothing else, with the
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
)}

## The whole service, as \`npm start\` runs it
${table(
  ['what', 'figure'],
  [
    ['from the command to ready, synthesis included', `${fixed(service.readyMs / 1_000)} s`],
    ['first login, its function cold', `${fixed(service.coldLoginMs, 0)} ms`],
    ['login, warm (an argon2id hash of 19 MiB among it)', `${fixed(service.warmLoginMs)} ms`],
    ['refresh, warm', `${fixed(service.warmRefreshMs)} ms`],
    ['processor time of the function per login', `${fixed(service.cpuPerLogin)} ms`],
    ['processor time of the function per refresh', `${fixed(service.cpuPerRefresh)} ms`],
    ['processor time of the functions per delivery', `${fixed(service.cpuPerDelivery)} ms`],
    ['deliveries a second, all on this machine', fixed(service.deliveriesPerSecond, 0)],
  ],
)}

## Beside oidc-provider
Processor time (user and system) of one server process per request, as \`process.cpuUsage\` counts it, requests one at a
time over HTTP on this machine. Medians of ${comparison.rounds} rounds of ${comparison.requests} requests to each server in turn. Target: a ratio of at most 0.5.

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
- What a call through the SDK costs (building, signing, sending, parsing) is by far the most of Emissor's time.
`;
const file = join(import.meta.dirname, '../../docs/performance.md');
writeFileSync(file, document);
console.log(document);
say('Written to docs/performance.md.');
