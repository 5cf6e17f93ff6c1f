import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, inject } from 'vitest';
import { type LocalRun, startLocalRun } from '../../tools/support/local-run.ts';

/** The run under test. If a feature is `null`, the run does not have it. */
export interface Run {
  readonly outputsFile: string;
  /** The file that maps public names to servers of the tests. */
  readonly hostsFile: string | null;
  /** The file with the output of the run. */
  readonly logFile: string | null;
  /** The id of the run's process, or `null` if the tests did not start the run. */
  readonly processId: number | null;
  /** The file with the secrets that the output of the run must not contain, one per line. */
  readonly canaryFile: string;
  /** The number of attempts per delivery, if they are one second apart. */
  readonly attempts: number | null;
}

export const run: Run = inject('run');

declare module 'vitest' {
  interface ProvidedContext {
    run: Run;
  }
}

export const outputs: Readonly<Record<string, string>> = await untilReady(run);

export const authUrl = output('AuthUrl');
export const baseUrl = output('BaseUrl');
export const demandsUrl = outputs.DemandsUrl ?? 'https://demandas.example.com';

const features = {
  names: { present: run.hostsFile !== null, lack: 'the run has no hosts file for receivers (EMISSOR_HOSTS)' },
  schedule: { present: run.attempts !== null, lack: 'the attempts of the run are too far apart' },
  engines: {
    present: outputs.DynamoDbEndpoint !== undefined || process.env.AWS_ENDPOINT_URL !== undefined,
    lack: 'the tables of the run are on AWS',
  },
  log: { present: run.logFile !== null, lack: 'the output of the run is not available' },
};

/** Returns an output by name. @throws if the run lacks it */
export function output(name: string): string {
  const value = outputs[name];
  if (typeof value !== 'string') throw new Error(`${run.outputsFile} has no output ${name}.`);
  return value;
}

/** Starts a local run for one suite. It reuses the cloud assembly of the run under test, because synthesis takes ten seconds. */
export function startSeparateRun(...options: string[]): Promise<LocalRun> {
  const assembly = run.processId === null ? [] : ['--assembly', `.local/runs/${run.processId}/cdk.out`];
  return startLocalRun(...assembly, ...options);
}

/** Records a secret. The global set-up checks that the output of the run does not contain it. */
export function registerSecret<Secret extends string>(secret: Secret): Secret {
  appendFileSync(run.canaryFile, `${secret}\n`);
  return secret;
}

/** Polls a value every `interval` milliseconds until it is defined. @throws if it is still undefined after `limit` milliseconds */
export async function until<Value>(
  name: string,
  read: () => Promise<Value | undefined> | Value | undefined,
  limit = 40_000,
  interval = 50,
): Promise<Value> {
  for (const deadline = Date.now() + limit; ; await pause(interval)) {
    const value = await read();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`Timed out after ${limit} ms while waiting for ${name}.`);
  }
}

/** Registers a suite. If the run lacks a feature that the suite needs, it skips the suite with a warning. */
export function describeWith(needs: readonly (keyof typeof features)[], title: string, suite: () => void): void {
  const lacks = needs.filter(need => !features[need].present).map(need => features[need].lack);
  if (lacks.length === 0) {
    describe(title, suite);
    return;
  }
  console.warn(`SKIPPED "${title}": ${lacks.join('; ')}.`);
  describe.skip(`${title} [skipped: ${lacks.join('; ')}]`, suite);
}

/** Waits until the run responds, and returns its outputs. @throws with the end of its log if the run ends or does not respond */
async function untilReady({ outputsFile, logFile, processId }: Run): Promise<Readonly<Record<string, string>>> {
  const find = async () => {
    const ready = await readyOutputs(outputsFile);
    if (!ready && processId !== null && !isAlive(processId)) throw new Error('The run has ended.');
    return ready;
  };
  const limit = processId === null ? 10_000 : 120_000; // includes synthesis, bundling and start-up on a busy computer
  return until('its outputs', find, limit, 100).catch(error => {
    const log = logFile === null ? '' : readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-60).join('\n');
    throw new Error(`The run of ${outputsFile} is not ready: ${error.message}\n${log}`);
  });
}

async function readyOutputs(outputsFile: string): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    const content = JSON.parse(readFileSync(outputsFile, 'utf8'));
    // `cdk deploy --outputs-file` groups outputs by stack.
    const values = 'AuthUrl' in content ? content : Object.assign({}, ...Object.values(content));
    const response = await fetch(`${values.AuthUrl}/.well-known/jwks.json`, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? values : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}
