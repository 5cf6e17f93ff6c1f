import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeRuntimeFiles } from '@emissor/cloud/functions';
import { startInternet } from '@emissor/cloud/testing';
import { makeReceiver } from '../../ops/local/receiver.ts';
import { freePort } from '../support/free-port.ts';
import { cleanEnvironment } from '../support/run-node.ts';
import { recordedResources } from './emulator-differences.ts';
import { makeInventory } from './inventory.ts';

/** The PyPI packages that the deployment tests need. Without `cryptography`, MiniStack's KMS cannot create data key pairs. */
export const pythonRequirements = ['ministack==1.5.33', 'cryptography', 'cfn-lint==1.58.0', 'awscli==1.46.3'] as const;

/** MiniStack, an independent emulator of AWS. */
export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/** The account and the Region of the emulator. */
export const account = '000000000000';
export const region = 'us-east-1';

/**
 * Starts the emulator on a free port of 127.0.0.1. Its functions use the emulated Internet of the local cloud, which resolves the public
 * names of receivers on this machine. The functions inherit the emulator's environment variables.
 *
 * @param python - the Python interpreter of an environment with `ministack`
 * @param folder - the folder for the emulator's files
 * @throws if the emulator does not start
 */
export async function startEmulator(python: string, folder: string) {
  mkdirSync(folder, { recursive: true });
  const hostsFile = path.join(folder, 'hosts.json');
  writeFileSync(hostsFile, '{}');
  const ignore = () => {};
  const site = { name: 'receiver.example.com', port: 0, handle: makeReceiver(ignore) };
  const internet = await startInternet({ hostsFile, site }, ignore);
  const files = await writeRuntimeFiles(folder, internet.settings, internet.authorityCertificate);

  const port = await freePort();
  const endpoint = `http://localhost:${port}`;
  const logFile = path.join(folder, 'emulator.log');
  const log = openSync(logFile, 'a');
  const child = spawn(python, [path.join(import.meta.dirname, 'emulator.py')], {
    cwd: folder,
    detached: true, // its own process group, so that its functions end with it
    stdio: ['pipe', log, log], // ends with its standard input, even if this process is killed
    env: {
      ...cleanEnvironment(),
      TMPDIR: folder, // MiniStack does not delete the folders of its functions
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      MINISTACK_HOST: 'localhost',
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      LAMBDA_EXECUTOR: 'local',
      LAMBDA_ACCOUNT_CONCURRENCY: '1000', // the quota of an established account; MiniStack's default depends on the memory of this machine
      EMULATOR_RECORDED: JSON.stringify(recordedResources),
      NODE_OPTIONS: `--import=${files.preloadUrl} ${localhostNames}`, // the scheduled test calls the APIs
      NODE_EXTRA_CA_CERTS: files.authorityFile,
    },
  });
  closeSync(log);
  const endNow = () => endGroup(child);
  process.once('exit', endNow);
  /** Stops the emulator and all functions. */
  const stop = async () => {
    process.removeListener('exit', endNow);
    const ended = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit');
    endGroup(child);
    await ended;
    await internet.stop();
  };
  /** Returns the last log lines of MiniStack and its functions. */
  const tail = (lines: number) => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');

  try {
    await untilReady(child, endpoint);
  } catch (error) {
    const output = tail(20);
    await stop();
    throw new Error(`MiniStack did not start:\n${output}`, { cause: error });
  }
  const settings = { endpoint, region, credentials: { accessKeyId: 'emulated', secretAccessKey: 'emulated' } };
  /** The environment variables that make a program use the emulator instead of AWS. */
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: settings.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: settings.credentials.secretAccessKey,
    NODE_OPTIONS: localhostNames,
  };
  const inventory = makeInventory(settings);
  /** Maps a name in the emulated Internet to the emulator. No other program may write the hosts file at the same time. */
  const mapHost = (name: string) => {
    const hosts = JSON.parse(readFileSync(hostsFile, 'utf8'));
    writeFileSync(hostsFile, JSON.stringify({ ...hosts, [name]: `http://127.0.0.1:${port}` }));
  };
  return { environment, endpoint, settings, inventory, hostsFile, mapHost, tail, stop };
}

const localhostNames = `--import=${path.join(import.meta.dirname, 'localhost-names.ts')}`;

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // the whole process group has ended
  }
}

async function untilReady(child: ChildProcess, endpoint: string): Promise<void> {
  const deadline = Date.now() + startLimit;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`MiniStack exited with code ${child.exitCode}.`);
    try {
      if ((await fetch(`${endpoint}/_ministack/health`)).ok) return;
    } catch {
      // not ready yet
    }
    await pause(100);
  }
  throw new Error(`MiniStack did not respond within ${startLimit} ms.`);
}

/** The time limit for the start, in milliseconds. On an idle machine, MiniStack starts in 2 s. */
const startLimit = 60_000;
