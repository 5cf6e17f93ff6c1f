import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sqsClientOf } from '../support/engines.ts';
import { type LocalRun, startLocalRun } from '../support/local-run.ts';
import { publishEvents } from './publisher.ts';
import type { ReceiverBehaviour } from './receiver-behaviours.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { type AccountPlan, hostOf, type Registration, registerWebhooks } from './registrations.ts';

/** A local run in which accounts have their webhooks. */
export interface PreparedRun {
  readonly run: LocalRun;
  readonly receivers: Receivers;
  /** The registrations of accounts whose name begins so. */
  registrationsOf(prefix: string): readonly Registration[];
  /** Publishes events of one registration, up to ten. Gives their deliveries' ids. */
  publish(registration: Registration, count: number): Promise<readonly string[]>;
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
  const hosts = plans.map(({ account }) => [hostOf(account, 0), `http://127.0.0.1:${receivers.port}`]);
  writeFileSync(hostsFile, JSON.stringify(Object.fromEntries(hosts)));
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
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
