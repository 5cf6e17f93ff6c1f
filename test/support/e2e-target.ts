import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, inject } from 'vitest';
import { type LocalRun, startLocalRun } from '../../tools/support/local-run.ts';

/** The run under test. A feature that is `null` is unavailable in it. */
export interface Run {
  readonly outputsFile: string;
  /** The file that maps names of this machine into the run's Internet. */
  readonly hostsFile: string | null;
  /** All output of the run. */
  readonly logFile: string | null;
  /** The process of the run, or `null` if it was started elsewhere. */
  readonly processId: number | null;
  /** The file of secrets that the run's output must not contain, one a line. */
  readonly canaryFile: string;
  /** The attempts of a delivery, if they are a second apart. */
  readonly attempts: number | null;
}

export const run: Run = inject('run');

declare module 'vitest' {
  interface ProvidedContext {
    run: Run;
  }
}

/** The outputs of the run under test. */
export const outputs: Readonly<Record<string, string>> = await untilReady(run);

export const authUrl = output('AuthUrl');
export const baseUrl = output('BaseUrl');
export const demandsUrl = outputs.DemandsUrl ?? 'https://demandas.example.com';

/** The optional features of a run. */
const features = {
  names: { present: run.hostsFile !== null, lack: 'names cannot be mapped to receivers here (no EMISSOR_HOSTS)' },
  schedule: { present: run.attempts !== null, lack: 'attempts are too far apart here' },
  engines: {
    present: outputs.DynamoDbEndpoint !== undefined || process.env.AWS_ENDPOINT_URL !== undefined,
    lack: 'the tables are on AWS here',
  },
  log: { present: run.logFile !== null, lack: 'the output of the run is not available here' },
};

/** Returns an output by name. @throws if the run has none. */
export function output(name: string): string {
  const value = outputs[name];
  if (typeof value !== 'string') throw new Error(`${run.outputsFile} has no output ${name}.`);
  return value;
}

/** Starts a local run for one suite. It reuses the cloud assembly of the run under test, because a synthesis takes ten seconds. */
export function startOwnRun(...options: string[]): Promise<LocalRun> {
  const assembly = run.processId === null ? [] : ['--assembly', `.local/runs/${run.processId}/cdk.out`];
  return startLocalRun(...assembly, ...options);
}

/** Records a secret. The global set-up searches the run's output for it. */
export function plant<Secret extends string>(secret: Secret): Secret {
  appendFileSync(run.canaryFile, `${secret}\n`);
  return secret;
}

/** Polls until a value is defined, every `interval` for at most `limit` milliseconds. `what` names the value in the error. */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value | undefined> | Value | undefined,
  limit = 40_000,
  interval = 50,
): Promise<Value> {
  for (const deadline = Date.now() + limit; ; await pause(interval)) {
    const value = await ask();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`${what}: no value in ${limit} ms.`);
  }
}

/** Registers a suite that is skipped, with a warning, if the run lacks a feature that it needs. */
export function describeWith(needs: readonly (keyof typeof features)[], title: string, suite: () => void): void {
  const lacks = needs.filter(need => !features[need].present).map(need => features[need].lack);
  if (lacks.length === 0) {
    describe(title, suite);
    return;
  }
  console.warn(`SKIPPED "${title}": ${lacks.join('; ')}.`);
  describe.skip(`${title} [skipped: ${lacks.join('; ')}]`, suite);
}

/** Waits until the run responds, and returns its outputs. @throws with the end of its log if it ends or times out. */
async function untilReady({ outputsFile, logFile, processId }: Run): Promise<Readonly<Record<string, string>>> {
  const find = async () => {
    const found = await answering(outputsFile);
    if (!found && processId !== null && !isAlive(processId)) throw new Error('It has ended.');
    return found;
  };
  const limit = processId === null ? 10_000 : 120_000; // synthesis, bundling and start-up, on a busy machine
  return until('its outputs', find, limit, 100).catch(error => {
    const log = logFile === null ? '' : readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-60).join('\n');
    throw new Error(`The run of ${outputsFile} does not answer: ${error.message}\n${log}`);
  });
}

async function answering(outputsFile: string): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    const content = JSON.parse(readFileSync(outputsFile, 'utf8'));
    // `cdk deploy --outputs-file` groups outputs by stack.
    const found = 'AuthUrl' in content ? content : Object.assign({}, ...Object.values(content));
    const response = await fetch(`${found.AuthUrl}/.well-known/jwks.json`, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? found : undefined;
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
