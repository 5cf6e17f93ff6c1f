import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { FaultKind } from '@emissor/local-cloud/fault-injection';
import { type Dynamo, makeDynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { documentClientOf, sqsClientOf } from '../../tools/support/engines.ts';
import { type LocalOutputs, type LocalRun, startLocalRun } from '../../tools/support/local-run.ts';
import { makeRandom, type Random, shuffled } from '../../tools/support/random.ts';
import { auditAnnouncements, subscribeToOperations } from './announcements.ts';
import { type Audit, audit, inspectionOf } from './audit.ts';
import { type FaultPlan, type InjectedFaults, injectedIn, injectFaults, writeFaults } from './fault-injection.ts';
import { hostTables } from './hosts.ts';
import { type PublishedEvent, publishEvents, sendAll } from './publisher.ts';
import { type ReceiverBehaviour, receiverBehaviours } from './receiver-behaviours.ts';
import { startReceivers } from './receivers.ts';
import { type AccountPlan, type Registration, registerWebhooks } from './registrations.ts';
import { readStored, setVisibility, takeAll, workQueuesOf } from './run-state.ts';
import { untilIdle } from './until-idle.ts';

/** The settings of a chaos run. Times in milliseconds unless said otherwise. */
export interface ChaosSettings {
  readonly events: number;
  readonly accounts: number;
  readonly seed: number;
  /** The run gives up after this long. */
  readonly limit: number;
  /** Events are published evenly over this time, and faults are injected meanwhile. */
  readonly publishing: number;
  /** The deadline of an attempt. */
  readonly attemptTimeout: number;
  /** Waits between attempts, as `--retry-schedule` takes them. In whole seconds. */
  readonly waits: readonly number[];
  /** The Retry-After of receivers that ask for time, in whole seconds. */
  readonly retryAfter: number;
  /** The same, of those whose webhook is deleted meanwhile. */
  readonly longRetryAfter: number;
  /** Seconds that a message stays hidden: it comes back this long after its process was killed. */
  readonly visibility: number;
  /**
   * True when the run waits for recoveries that take minutes: an internal error is waited out for one, the sweeper sends what
   * was lost between storing and sending after two or three, and announces suspensions after one or two.
   */
  readonly waitsForRecovery: boolean;
  /** The most that an attempt may be late. */
  readonly mostLate: number;
  readonly faults: FaultPlan;
}

/** The result of a chaos run. */
export interface ChaosReport extends Audit {
  readonly injected: InjectedFaults;
  /** Messages that are no events, and of those the ones in the dead-letter queue. */
  readonly malformed: number;
  readonly deadLettered: number;
  /** Events that were published twice, with the publisher's own id. */
  readonly republished: number;
  /** Announcements of suspensions. */
  readonly announced: number;
  /** The most that an attempt might be late, in milliseconds. */
  readonly mostLate: number;
  readonly seconds: number;
}

/** Publishes events while faults are injected, and accounts for every event. Ends within its limit, or soon after. */
export async function runChaos(settings: ChaosSettings, say: Say = () => undefined): Promise<ChaosReport> {
  const startedAt = Date.now();
  const deadline = startedAt + settings.limit;
  const random = makeRandom(settings.seed);
  const behaviours = receiverBehaviours(settings.retryAfter, settings.longRetryAfter);
  const plans = planAccounts(settings, behaviours);
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-chaos-'));
  const [hostsFile, faultsFile] = [path.join(folder, 'hosts.json'), path.join(folder, 'faults.json')];
  const receivers = await startReceivers(behaviours);
  const hosts = hostTables(plans, receivers.port);
  writeFileSync(hostsFile, JSON.stringify(hosts.before));
  writeFaults(faultsFile, {});

  say('Starting the local cloud …');
  const run = await startLocalRun(
    ...['--hosts', hostsFile, '--faults', faultsFile],
    ...['--retry-schedule', settings.waits.map(wait => `${wait / 1_000}s`).join(',')],
    ...['--set', `attemptTimeout=${settings.attemptTimeout}ms`],
  ).catch(error => {
    receivers.stop();
    throw error;
  });
  const sqs = sqsClientOf(run.outputs);
  const client = documentClientOf(run.outputs);
  const dynamo = makeDynamo(client);
  try {
    say(`Registering the webhooks of ${settings.accounts} accounts …`);
    const registrations = await registerWebhooks(run, plans, receivers.pathOf);
    receivers.inspectWith(inspectionOf(registrations));
    for (const url of workQueuesOf(run.outputs)) await setVisibility(sqs, url, settings.visibility);
    const operationsQueueUrl = await subscribeToOperations(sqs, run.outputs);
    writeFileSync(hostsFile, JSON.stringify(hosts.after));

    say(`Publishing ${settings.events} events in ${settings.publishing / 1_000} s, while faults are injected …`);
    const publisher = makeChaosPublisher(sqs, run.outputs, random);
    const { published, malformed } = publisher;
    const isAtWork = () => receivers.arrivals.length > 0;
    const publishingIsOver = new AbortController();
    const injecting = injectFaults(run, faultsFile, settings.faults, random, isAtWork, publishingIsOver.signal);
    try {
      await publishAll(settings, registrations, random, publisher.publish);
    } finally {
      publishingIsOver.abort();
    }
    say('Everything is published.');
    const deleting = deleteWebhooks(registrations, published, dynamo, run, deadline);
    const [kills] = await Promise.all([injecting, deleting]);
    const outstanding = await untilIdle({ settings, run, sqs, dynamo, published, faultsFile, deadline, say });

    const stored = await readStored(dynamo, run.outputs);
    const { waits: schedule, attemptTimeout, mostLate } = settings;
    const { arrivals } = receivers;
    const bounds = { schedule, attemptTimeout, mostLate, at: Date.now() };
    const result = audit({ behaviours, published, arrivals, deliveries: stored.deliveries, ...bounds });
    const announcements = await takeAll(sqs, operationsQueueUrl);
    const deadLetters = new Set((await takeAll(sqs, run.outputs.DeadLetterQueueUrl)).map(({ Body = '' }) => Body));
    const injected = injectedIn(run, kills, faultKinds);
    return {
      ...result,
      findings: [
        ...result.findings,
        ...outstanding,
        ...auditAnnouncements({ published, arrivals }, stored, announcements),
        ...auditDeadLetters(malformed, deadLetters),
        ...(receivers.followed() > 0 ? [`${receivers.followed()} redirects were followed`] : []),
        ...(settings.waitsForRecovery ? auditFaults(injected) : []),
        ...auditLog(run, registrations),
      ],
      injected,
      malformed: malformed.size,
      deadLettered: deadLetters.size,
      republished: publisher.republished(),
      announced: announcements.length,
      mostLate,
      seconds: (Date.now() - startedAt) / 1_000,
    };
  } finally {
    sqs.destroy();
    client.destroy();
    await run.stop();
    receivers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Say = (line: string) => void;

function planAccounts(
  { accounts, seed }: ChaosSettings,
  behaviours: readonly ReceiverBehaviour[],
): readonly AccountPlan[] {
  return Array.from({ length: accounts }, (_, account) => ({
    account: `chaos-${seed}-${account}`,
    behaviours: Array.from({ length: webhooksPerAccount }, (__, webhook) => {
      return behaviours[(account * webhooksPerAccount + webhook) % behaviours.length] as ReceiverBehaviour;
    }),
  }));
}

const webhooksPerAccount = 4;

/** Publishes events, some of them twice, and now and then a message that is no event; it keeps what it published. */
function makeChaosPublisher(sqs: SQSClient, outputs: LocalOutputs, random: Random) {
  const published: PublishedEvent[] = [];
  const malformed = new Set<string>();
  let republished = 0;

  async function publish(batch: readonly Registration[], firstId: number): Promise<void> {
    const events = await publishEvents(sqs, outputs, batch, firstId, () => random() < 0.3);
    published.push(...events);
    const again = events.filter(({ hasOwnId }) => hasOwnId && random() < 0.3);
    const bad = random() < 0.1 ? [malformedMessage(firstId, batch[0]?.account ?? '')] : [];
    for (const body of bad) malformed.add(body);
    republished += again.length;
    const extra = [
      ...again.map(({ message, registration }) => ({ body: message, account: registration.account })),
      ...bad.map(body => ({ body, account: 'nobody' })),
    ];
    if (extra.length > 0) await sendAll(sqs, outputs.EventsQueueUrl, extra.slice(0, 10));
  }

  return { publish, published, malformed, republished: () => republished };
}

function malformedMessage(index: number, account: string): string {
  return index % 2 === 0
    ? `no event at all, ${index}`
    : JSON.stringify({ id_conta: account, event: 'nobody.knows', id_demanda: index + 1 });
}

/** Publishes everything, evenly over time. */
async function publishAll(
  { events, publishing }: ChaosSettings,
  registrations: readonly Registration[],
  random: Random,
  publish: (registrations: readonly Registration[], firstId: number) => Promise<void>,
): Promise<void> {
  // Webhooks that are to be deleted get theirs first, so that all of these are waiting by then.
  const toBeDeleted = registrations.filter(({ behaviour }) => behaviour.isDeleted);
  const others = registrations.filter(({ behaviour }) => !behaviour.isDeleted);
  const share = Math.round((events * toBeDeleted.length) / registrations.length);
  const targets = Array.from({ length: events }, (_, index) => {
    const list = index < share ? toBeDeleted : others;
    return list[index % list.length] as Registration;
  });
  const order = [...shuffled(targets.slice(0, share), random), ...shuffled(targets.slice(share), random)];
  const start = Date.now();
  for (let first = 0; first < order.length; first += 10) {
    await publish(order.slice(first, first + 10), first + 1);
    await pause(Math.max(0, start + (publishing * (first + 10)) / events - Date.now()));
  }
}

/** Deletes the webhooks that are to be deleted, once all of their events are stored. */
async function deleteWebhooks(
  registrations: readonly Registration[],
  published: readonly PublishedEvent[],
  dynamo: Dynamo,
  { outputs }: LocalRun,
  deadline: number,
): Promise<void> {
  const ids = published.filter(({ registration }) => registration.behaviour.isDeleted).map(event => event.deliveryId);
  for (;;) {
    const { deliveries } = await readStored(dynamo, outputs);
    if (ids.every(id => deliveries.has(id))) break;
    if (Date.now() > deadline) return;
    await pause(1_000);
  }
  for (const { behaviour, remove } of registrations) if (behaviour.isDeleted) await remove();
}

/** The dead-letter queue must hold all malformed messages, and nothing else. */
function auditDeadLetters(malformed: ReadonlySet<string>, deadLetters: ReadonlySet<string>): readonly string[] {
  return [
    ...[...deadLetters.difference(malformed)].map(body => `in the dead-letter queue: ${body}`),
    ...[...malformed.difference(deadLetters)].map(body => `LOST, not in the dead-letter queue: ${body}`),
  ];
}

/** A long run must have had every fault, and its consequences. */
function auditFaults({ counts, keptByKms, movedToSlowLane }: InjectedFaults): readonly string[] {
  return [
    ...faultKinds.filter(fault => !counts[fault]).map(fault => `no ${fault} happened`),
    ...(keptByKms === 0 ? ['KMS kept no attempt from being made'] : []),
    ...(movedToSlowLane === 0 ? ['no attempt was left to the slow lane'] : []),
  ];
}

const faultKinds: readonly FaultKind[] = [
  'throttledReadsAndWrites',
  'refusedSends',
  'throttledKeyUses',
  'failedKeyUses',
  'failedNotifications',
  'repeatedBatches',
];

/** The log must hold neither secrets nor payloads. */
function auditLog({ logFile }: LocalRun, registrations: readonly Registration[]): readonly string[] {
  const log = readFileSync(logFile, 'utf8');
  const secrets = registrations.flatMap(({ secret, authorization }) => [secret, authorization]).filter(Boolean);
  const leaked = secrets.filter(secret => log.includes(secret)).length + (log.includes('"id_demanda":') ? 1 : 0);
  return leaked > 0 ? [`${leaked} secrets or payloads are in the run's log`] : [];
}
