import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { type LocalRun, startLocalRun } from '../../tools/support/local-run.ts';
import { hostTables } from './hosts.ts';
import { publishEvents } from './publisher.ts';
import type { ReceiverBehaviour } from './receiver-behaviours.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { type AccountPlan, type Registration, registerWebhooks } from './registrations.ts';
import { waitingMessages } from './run-state.ts';

/** A local run in which accounts have their webhooks. */
export interface PreparedRun {
  readonly run: LocalRun;
  readonly receivers: Receivers;
  /** The registrations of accounts whose name begins so. */
  registrationsOf(prefix: string): readonly Registration[];
  /** Publishes events of one registration, up to ten. Returns their deliveries' ids. */
  publish(registration: Registration, count: number): Promise<readonly string[]>;
  /** Counts messages in the queues that have consumers: visible, in flight or delayed. */
  waiting(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a local run with options, makes accounts in it and registers their webhooks. */
export async function startPreparedRun(
  behaviours: readonly ReceiverBehaviour[],
  plans: readonly AccountPlan[],
  ...options: readonly string[]
): Promise<PreparedRun> {
  const receivers = await startReceivers(behaviours);
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-chaos-'));
  const hostsFile = path.join(folder, 'hosts.json');
  const hosts = hostTables(plans, receivers.port);
  writeFileSync(hostsFile, JSON.stringify(hosts.before));
  const clear = () => {
    receivers.stop(); // attempts that hang end with it
    rmSync(folder, { recursive: true, force: true });
  };
  const run = await startLocalRun('--hosts', hostsFile, ...options).catch(error => {
    clear();
    throw error;
  });
  const sqs = sqsClientOf(run.outputs);
  const stop = async () => {
    clear();
    sqs.destroy();
    await run.stop();
  };
  let nextId = 1;
  try {
    const registrations = await registerWebhooks(run, plans, receivers.pathOf);
    writeFileSync(hostsFile, JSON.stringify(hosts.after));
    return {
      run,
      receivers,
      registrationsOf: prefix => registrations.filter(({ account }) => account.startsWith(prefix)),
      publish: async (registration, count) => {
        const firstId = nextId;
        nextId += count;
        const targets = Array.from({ length: count }, () => registration);
        const events = await publishEvents(sqs, run.outputs, targets, firstId, () => false);
        return events.map(({ deliveryId }) => deliveryId);
      },
      waiting: () => waitingMessages(sqs, run.outputs),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
