import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeDynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { documentClientOf, sqsClientOf } from '../../tools/support/engines.ts';
import { type LocalOutputs, type LocalRun, startLocalRun } from '../../tools/support/local-run.ts';
import { type Audit, audit, type Evidence, waitsForMinutes } from './audit.ts';
import { type FaultPlan, type InjectedFaults, injectFaults, missingOf } from './fault-injection.ts';
import { type PublishedEvent, publishEvenly } from './publisher.ts';
import { startReceivers } from './receivers.ts';
import { hostTables, planAccounts, registerWebhooks } from './registrations.ts';
import { messagesIn, readDeliveries, setVisibility, workQueuesOf } from './run-state.ts';

/** The settings of a run amid faults. Times in milliseconds unless said otherwise. */
export interface FaultRunSettings {
  readonly events: number;
  /** Accounts for each behaviour of receivers. */
  readonly accounts: number;
  /** The run gives up after this long. */
  readonly limit: number;
  /** Events are published evenly over this time, and faults are injected meanwhile. */
  readonly publishing: number;
  /** The deadline of an attempt. */
  readonly attemptTimeout: number;
  /** Waits between attempts, as `--retry-schedule` takes them. */
  readonly schedule: string;
  /** Seconds that a message stays hidden: it comes back this long after its process was killed. */
  readonly visibility: number;
  /**
   * True when the run waits for recoveries that take minutes: an internal error is waited out for one, and the sweeper sends what
   * was lost between storing and sending after two or three, and to the slow queue after five.
   */
  readonly waitsForRecovery: boolean;
  readonly faults: FaultPlan;
}

/** The result of a run amid faults. */
export interface FaultReport extends Audit {
  readonly injected: InjectedFaults;
  readonly seconds: number;
}

/** Publishes events while faults are injected, and accounts for every event. Ends within its limit, or soon after. */
export async function runAmidFaults(settings: FaultRunSettings, say: Say = () => undefined): Promise<FaultReport> {
  const startedAt = Date.now();
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-chaos-'));
  const [hostsFile, faultsFile] = [path.join(folder, 'hosts.json'), path.join(folder, 'faults.json')];
  const receivers = await startReceivers();
  const plans = planAccounts(settings.accounts);
  const hosts = hostTables(plans, receivers.port);
  writeFileSync(hostsFile, JSON.stringify(hosts.before));
  writeFileSync(faultsFile, '{}');
  let run: LocalRun | undefined;
  try {
    say('Starting the local cloud …');
    run = await startLocalRun(
      ...['--hosts', hostsFile, '--faults', faultsFile, '--retry-schedule', settings.schedule],
      ...['--set', `attemptTimeout=${settings.attemptTimeout}ms`],
    );
    const { outputs } = run;
    say(`Registering the webhooks of ${plans.length} accounts …`);
    const registrations = await registerWebhooks(run, plans);
    const sqs = sqsClientOf(outputs);
    for (const url of workQueuesOf(outputs)) await setVisibility(sqs, url, settings.visibility);
    writeFileSync(hostsFile, JSON.stringify(hosts.after));

    const { events, publishing, faults } = settings;
    say(`Publishing ${events} events in ${publishing / 1_000} s, while faults are injected …`);
    let isPublished = false;
    const isAtWork = () => receivers.arrivals.length > 0;
    const [published, injected] = await Promise.all([
      publishEvenly(sqs, outputs.EventsQueueUrl, registrations, events, publishing).finally(() => {
        isPublished = true;
      }),
      injectFaults(run, faultsFile, faults, isAtWork, () => isPublished),
    ]);
    say('Everything is published.');
    const deliveries = await untilSettled(outputs, published, settings, startedAt + settings.limit, say);
    const { rows, findings } = audit({
      published,
      deliveries,
      arrivals: receivers.arrivals,
      followed: receivers.followed(),
      deadLetters: await messagesIn(sqs, outputs.DeadLetterQueueUrl),
      log: readFileSync(run.logFile, 'utf8'),
      mayWait: !settings.waitsForRecovery,
      at: Date.now(),
    });
    const seconds = (Date.now() - startedAt) / 1_000;
    return { rows, findings: [...findings, ...missingOf(faults, injected)], injected, seconds };
  } finally {
    await run?.stop();
    receivers.stop();
    rmSync(folder, { recursive: true });
  }
}

type Say = (line: string) => void;

/** Waits until each event has its end, or has to wait longer than the run does. Returns the deliveries then, or when time is up. */
async function untilSettled(
  outputs: LocalOutputs,
  published: readonly PublishedEvent[],
  { waitsForRecovery }: FaultRunSettings,
  deadline: number,
  say: Say,
): Promise<Evidence['deliveries']> {
  const dynamo = makeDynamo(documentClientOf(outputs));
  for (;;) {
    const deliveries = await readDeliveries(dynamo, outputs.DeliveriesTable);
    const now = Date.now();
    const open = published.filter(({ deliveryId }) => {
      const delivery = deliveries.get(deliveryId);
      if (delivery?.state !== 'pending') return !delivery;
      return waitsForRecovery || !waitsForMinutes(delivery, now);
    });
    if (open.length === 0 || now > deadline) return deliveries;
    say(`  Waiting for ${open.length} deliveries …`);
    await pause(waitsForRecovery ? 10_000 : 500); // reading the whole table takes the engine's time
  }
}
