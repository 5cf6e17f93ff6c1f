import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, User } from './accounts.ts';

/** The outputs of a local run that programs and tests use. */
export interface LocalOutputs {
  readonly AuthUrl: string;
  readonly BaseUrl: string;
  readonly EventsQueueUrl: string;
  readonly ReceiverUrl: string;
  readonly DynamoDbEndpoint: string;
  readonly SqsEndpoint: string;
  readonly KmsEndpoint: string;
  readonly Region: string;
  readonly Demo: Readonly<Record<'ClientId' | 'ClientSecret' | 'Username' | 'Password' | 'AccountId', string>>;
  readonly ClientsTable: string;
  readonly UsersTable: string;
  readonly CredentialsTable: string;
  readonly SessionsTable: string;
  readonly LockoutsTable: string;
  readonly KeyringTable: string;
  readonly WebhooksTable: string;
  readonly DeliveriesTable: string;
  readonly RetryQueueUrl: string;
  readonly SlowQueueUrl: string;
  readonly DeadLetterQueueUrl: string;
  readonly RejectedEventsTopicArn: string;
  readonly DemandsUrl: string;
  readonly OperationsTopicArn: string;
}

/** A local run that belongs to the calling process. */
export interface LocalRun {
  readonly outputs: LocalOutputs;
  readonly outputsFile: string;
  /** The file with the output of the run. `stop` removes it. */
  readonly logFile: string;
  /** The duration of the start in milliseconds. */
  readonly readyMs: number;
  readonly processId: number;
  /** Stops the run. Returns its complete output. */
  stop(): Promise<string>;
}

/**
 * Starts a local run on free ports. Until the promise resolves, the run invokes only the function that creates the keys.
 *
 * @throws if the run ends before it is ready
 */
export async function startLocalRun(...options: string[]): Promise<LocalRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-run-'));
  const start = performance.now();
  const { outputsFile, logFile, processId, hasEnded, end } = spawnLocalRun(folder, ...options);
  const stop = async () => {
    await end();
    const output = readFileSync(logFile, 'utf8');
    rmSync(folder, { recursive: true });
    return output;
  };
  while (!existsSync(outputsFile)) {
    if (hasEnded()) {
      throw new Error(`The local run did not start: ${(await stop()).trim().split('\n').at(-1)}`);
    }
    await pause(20);
  }
  const readyMs = performance.now() - start;
  const outputs = JSON.parse(readFileSync(outputsFile, 'utf8'));
  return { outputs, outputsFile, logFile, readyMs, processId, stop };
}

/** Spawns a local run on free ports. The run writes its log to a folder and, when it is ready, its outputs. */
export function spawnLocalRun(folder: string, ...options: string[]) {
  const outputsFile = path.join(folder, 'outputs.json');
  const logFile = path.join(folder, 'run.log');
  const log = openSync(logFile, 'a');
  const run = spawn(process.execPath, ['bin/local.ts', '--port', '0', '--outputs', outputsFile, ...options], {
    cwd: root,
    // As with npm, the run ends when this process ends, and paths are relative to the root.
    env: { ...process.env, npm_lifecycle_event: 'start', INIT_CWD: root },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const hasEnded = () => run.exitCode !== null || run.signalCode !== null;
  const end = async () => {
    const timer = setTimeout(() => run.kill('SIGKILL'), 10_000);
    run.kill('SIGTERM');
    if (!hasEnded()) await once(run, 'exit');
    clearTimeout(timer);
  };
  return { outputsFile, logFile, processId: run.pid ?? 0, hasEnded, end };
}

/** Returns the demo client and the demo admin of a local run. */
export function demoOf({ Demo }: LocalOutputs): { readonly client: Client; readonly user: User } {
  const { ClientId, ClientSecret, Username, Password, AccountId } = Demo;
  return {
    client: { clientId: ClientId, clientSecret: ClientSecret },
    user: { userId: '', email: Username, account: AccountId, password: Password },
  };
}

const root = path.join(import.meta.dirname, '../..');
