import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultKind } from '../../local/fault-injection.ts';
import { startLocalRun } from '../support/local-run.ts';
import { makeRandom, type Random, shuffled } from '../support/random.ts';
import { auditAnnouncements, subscribeToOperations } from './announcements.ts';
import { type Audit, audit, inspectionOf } from './audit.ts';
import { readStored, setVisibility, takeAll, workQueuesOf } from './engines.ts';
import { hostTables } from './hosts.ts';
import { type Kind, receiverKinds } from './kinds.ts';
import { type AccountPlan, documentsOf, type Registration, settle } from './population.ts';
import { type PublishedEvent, publishEvents, queuesOf, sendAll } from './publisher.ts';
import { startReceivers } from './receivers.ts';
import { untilSettled } from './settling.ts';
import { type Damage, damageIn, rage, type StormPlan, writeFaults } from './storm.ts';

/** A run to be. Times in milliseconds unless said otherwise. */
export interface ChaosPlan {
  readonly events: number;
  readonly accounts: number;
  readonly seed: number;
  /** The run ends after this long, come what may. */
  readonly limit: number;
  /** Events are published evenly over this time; the storm lasts as long. */
  readonly publishing: number;
  /** An attempt takes this long at most. */
  readonly attemptTimeout: number;
  /** Waits between attempts, as `--retry-schedule` takes them. In whole seconds. */
  readonly waits: readonly number[];
  /** What receivers that ask for time ask for: whole seconds. */
  readonly patience: number;
  /** The same, of those whose webhook is deleted meanwhile. */
  readonly longPatience: number;
  /** Seconds that a message stays hidden: how long it takes to come back from a process that was killed. */
  readonly visibility: number;
  /**
   * Whether it is waited for what takes minutes to mend: faults of our own are waited out for one, the sweeper brings back
   * what was lost between storing and sending after two or three, and announces suspensions after one or two.
   */
  readonly waitsForMending: boolean;
  readonly storm: StormPlan;
}

/** What came of it. */
export interface ChaosReport extends Audit {
  readonly damage: Damage;
  /** Messages that are no events, and of those the ones in the dead-letter queue. */
  readonly malformed: number;
  readonly deadLettered: number;
  /** Events that were published once more, with the publisher's own id. */
  readonly republished: number;
  /** Announcements of suspensions. */
  readonly announced: number;
  readonly seconds: number;
}

/** Runs the local cloud through a storm and accounts for every event. Always ends: within its limit, or soon after. */
export async function runChaos(plan: ChaosPlan, say: Say = () => undefined): Promise<ChaosReport> {
  const startedAt = Date.now();
  const random = makeRandom(plan.seed);
  const kinds = receiverKinds(plan.patience, plan.longPatience);
  const plans = planAccounts(plan.accounts, kinds, `chaos-${plan.seed}-`);
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-chaos-'));
  const [hostsFile, faultsFile] = [path.join(folder, 'hosts.json'), path.join(folder, 'faults.json')];
  const receivers = await startReceivers(kinds);
  const hosts = hostTables(plans, receivers.port);
  writeFileSync(hostsFile, JSON.stringify(hosts.before));
  writeFaults(faultsFile, {});

  say('Starting the local cloud …');
  const waits = plan.waits.map(wait => `${wait / 1_000}s`).join(',');
  const run = await startLocalRun(
    ...['--hosts', hostsFile, '--faults', faultsFile, '--retry-schedule', waits],
    ...['--set', `attemptTimeout=${plan.attemptTimeout}ms`],
  ).catch(error => {
    receivers.stop();
    throw error;
  });
  const sqs = queuesOf(run.outputs);
  const dynamo = documentsOf(run.outputs);
  const { EventsQueueUrl, DeadLetterQueueUrl } = run.outputs;
  const deadline = startedAt + plan.limit;

  const published: PublishedEvent[] = [];
  const garbled = new Set<string>();
  let republished = 0;

  const publish = async (batch: readonly Registration[], firstId: number) => {
    const made = await publishEvents(sqs, run.outputs, batch, firstId, () => random() < 0.3);
    published.push(...made);
    const again = made.filter(({ hasOwnId }) => hasOwnId && random() < 0.3);
    const bad = random() < 0.1 ? [garbage(firstId, batch[0]?.account ?? '')] : [];
    for (const body of bad) garbled.add(body);
    republished += again.length;
    const extra = [
      ...again.map(({ message, registration }) => ({ body: message, account: registration.account })),
      ...bad.map(body => ({ body, account: 'nobody' })),
    ];
    if (extra.length > 0) await sendAll(sqs, EventsQueueUrl, extra.slice(0, 10));
  };

  /** Deletes the webhooks that are to be deleted, once all of their events wait. */
  const deleteDoomed = async (registrations: readonly Registration[]) => {
    const doomed = registrations.filter(({ kind }) => kind.isDeleted);
    const ids = published.filter(({ registration }) => registration.kind.isDeleted).map(event => event.deliveryId);
    for (;;) {
      const { deliveries } = await readStored(dynamo, run.outputs);
      if (ids.every(id => deliveries.has(id))) break;
      if (Date.now() > deadline) return;
      await pause(1_000);
    }
    for (const { remove } of doomed) await remove();
  };

  try {
    say(`Registering the webhooks of ${plan.accounts} accounts …`);
    const registrations = await settle(run.outputs, plans, receivers.pathOf);
    receivers.inspectWith(inspectionOf(registrations));
    for (const url of workQueuesOf(run.outputs)) await setVisibility(sqs, url, plan.visibility);
    const operationsQueueUrl = await subscribeToOperations(sqs, run.outputs);
    writeFileSync(hostsFile, JSON.stringify(hosts.after));

    say(`Publishing ${plan.events} events in ${plan.publishing / 1_000} s, in a storm …`);
    const calm = new AbortController();
    const storm = rage(run, faultsFile, plan.storm, random, () => receivers.arrivals.length > 0, calm.signal);
    try {
      await publishAll(plan, registrations, random, publish);
    } finally {
      calm.abort();
    }
    const kills = await storm;
    say('Everything is published, and the storm is over.');
    await deleteDoomed(registrations);
    const whatIsLeft = await untilSettled({ plan, run, sqs, dynamo, published, faultsFile, deadline, say });

    const stored = await readStored(dynamo, run.outputs);
    const result = audit({
      kinds,
      published,
      deliveries: stored.deliveries,
      arrivals: receivers.arrivals,
      schedule: plan.waits,
      attemptTimeout: plan.attemptTimeout,
      at: Date.now(),
    });
    const announcements = await takeAll(sqs, operationsQueueUrl);
    const findings = [...result.findings, ...whatIsLeft, ...auditAnnouncements(published, stored, announcements)];
    const dead = await takeAll(sqs, DeadLetterQueueUrl);
    const deadBodies = new Set(dead.map(({ Body = '' }) => Body));
    for (const body of deadBodies) if (!garbled.has(body)) findings.push(`in the dead-letter queue: ${body}`);
    for (const body of garbled) if (!deadBodies.has(body)) findings.push(`LOST, not in the dead-letter queue: ${body}`);
    if (receivers.followed() > 0) findings.push(`${receivers.followed()} redirects were followed`);
    const log = readFileSync(run.logFile, 'utf8');
    const damage = damageIn(run, kills, faultKinds);
    if (plan.waitsForMending) {
      findings.push(...faultKinds.filter(kind => !damage.strikes[kind]).map(kind => `no ${kind} happened`));
      if (damage.keptByKms === 0) findings.push('KMS kept no attempt from being made');
      if (damage.movedToSlowLane === 0) findings.push('no attempt was left to the slow lane');
    }
    const secrets = registrations.flatMap(({ secret, authorization }) => [secret, authorization]).filter(Boolean);
    const leaked = secrets.filter(secret => log.includes(secret)).length + (log.includes('"id_demanda":') ? 1 : 0);
    if (leaked > 0) findings.push(`${leaked} secrets or payloads are in the run's log`);
    return {
      ...result,
      findings,
      damage,
      malformed: garbled.size,
      deadLettered: deadBodies.size,
      republished,
      announced: announcements.length,
      seconds: (Date.now() - startedAt) / 1_000,
    };
  } finally {
    sqs.destroy();
    dynamo.destroy();
    await run.stop();
    receivers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Say = (line: string) => void;

function planAccounts(count: number, kinds: readonly Kind[], prefix: string): readonly AccountPlan[] {
  return Array.from({ length: count }, (_, index) => ({
    account: `${prefix}${index}`,
    kinds: Array.from({ length: placesPerAccount }, (__, place) => {
      return kinds[(index * placesPerAccount + place) % kinds.length] as Kind;
    }),
  }));
}

function garbage(index: number, account: string): string {
  return index % 2 === 0
    ? `no event at all, ${index}`
    : JSON.stringify({ id_conta: account, event: 'nobody.knows', id_demanda: index + 1 });
}

/** Publishes everything, evenly over time. */
async function publishAll(
  { events, publishing }: ChaosPlan,
  registrations: readonly Registration[],
  random: Random,
  publish: (registrations: readonly Registration[], firstId: number) => Promise<void>,
): Promise<void> {
  // Webhooks that are to be deleted get theirs first, so that all of these are waiting by then.
  const doomed = registrations.filter(({ kind }) => kind.isDeleted);
  const others = registrations.filter(({ kind }) => !kind.isDeleted);
  const share = Math.round((events * doomed.length) / registrations.length);
  const targets = Array.from({ length: events }, (_, index) => {
    const list = index < share ? doomed : others;
    return list[index % list.length] as Registration;
  });
  const order = [...shuffled(targets.slice(0, share), random), ...shuffled(targets.slice(share), random)];
  const start = Date.now();
  for (let first = 0; first < order.length; first += 10) {
    await publish(order.slice(first, first + 10), first + 1);
    await pause(Math.max(0, start + (publishing * (first + 10)) / events - Date.now()));
  }
}

const faultKinds: readonly FaultKind[] = [
  'throttledReadsAndWrites',
  'refusedSends',
  'throttledKeyUses',
  'failedKeyUses',
  'failedNotifications',
  'repeatedBatches',
];

/** Each account has webhooks for so many events. */
const placesPerAccount = 4;
