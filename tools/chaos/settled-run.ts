import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type LocalRun, startLocalRun } from '../support/local-run.ts';
import type { Kind } from './kinds.ts';
import { type AccountPlan, hostOf, type Registration, settle } from './population.ts';
import { publishEvents, queuesOf } from './publisher.ts';
import { type Receivers, startReceivers } from './receivers.ts';

/** A local run in which accounts have their webhooks. */
export interface SettledRun {
  readonly run: LocalRun;
  readonly sqs: SQSClient;
  readonly receivers: Receivers;
  /** The registrations of accounts whose name begins so. */
  registrationsOf(prefix: string): readonly Registration[];
  /** Publishes events of one registration, up to ten. Gives their deliveries' ids. */
  publish(registration: Registration, count: number): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Accounts with a webhook each, whose receivers are all of one kind. */
export function accountsOf(prefix: string, count: number, kind: Kind): readonly AccountPlan[] {
  return Array.from({ length: count }, (_, index) => ({ account: `${prefix}${index}`, kinds: [kind] }));
}

/** Starts a local run with options, and settles accounts in it. */
export async function startSettledRun(
  kinds: readonly Kind[],
  plans: readonly AccountPlan[],
  ...options: readonly string[]
): Promise<SettledRun> {
  const receivers = await startReceivers(kinds);
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-settled-'));
  const hostsFile = path.join(folder, 'hosts.json');
  const hosts = plans.map(({ account }) => [hostOf(account, 0), `http://127.0.0.1:${receivers.port}`]);
  writeFileSync(hostsFile, JSON.stringify(Object.fromEntries(hosts)));
  const clear = () => {
    receivers.stop(); // what hangs ends with it
    rmSync(folder, { recursive: true, force: true });
  };
  const run = await startLocalRun('--hosts', hostsFile, ...options).catch(error => {
    clear();
    throw error;
  });
  const sqs = queuesOf(run.outputs);
  const stop = async () => {
    clear();
    sqs.destroy();
    await run.stop();
  };
  let nextId = 1;
  try {
    const registrations = await settle(run.outputs, plans, receivers.pathOf);
    return {
      run,
      sqs,
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
