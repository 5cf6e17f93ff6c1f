import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { nameProblem } from '../lambdas/platform/egress/host-name.ts';
import { type Assembly, readAssembly } from './assembly/assembly.ts';
import { drawBlueprint } from './deployment/blueprint.ts';
import { provisionDemo, provisionFunctions, provisionState, runTriggers } from './deployment/provision.ts';
import { startTraffic } from './deployment/traffic.ts';
import { type DataDirectory, makeRunDirectory, openDataDirectory } from './directories.ts';
import { type Faults, faultsOf, noFaults, watchFaults } from './faults.ts';
import { type HttpFront, startHttpFront } from './http-api/server.ts';
import { startLoopbackInternet } from './internet/loopback-internet.ts';
import type { ReceivedDelivery } from './internet/receiver.ts';
import { writeRuntimeFiles } from './lambda/runtime-files.ts';
import { startLogs } from './logs/server.ts';
import type { LocalOptions } from './options.ts';
import { claimOutputs, type RunOutputs, runOutputs, writeOutputs } from './outputs.ts';
import { portsFrom, type RunPorts } from './ports.ts';
import { startServices } from './services.ts';
import { synthesise } from './synthesis.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What a local run is started with. */
export interface LocalCloudRequest extends LocalOptions {
  /** Directory of the project. */
  readonly root: string;
  readonly terminal: Terminal;
  /** Breaks off a start that is still under way. */
  readonly signal: AbortSignal;
}

/** A local run that is ready. */
export interface LocalCloud {
  readonly outputs: RunOutputs;
  /** Lets what is under way end, for a few seconds at most, then ends everything. */
  stop(): Promise<void>;
}

/**
 * Starts a local run: synthesises the CDK app for stage `local` and brings its template to life on 127.0.0.1.
 *
 * @throws {LocalFault} for what the person at the terminal can mend; everything started so far is ended first.
 */
export async function startLocalCloud(request: LocalCloudRequest): Promise<LocalCloud> {
  const undo: Undo = [];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    return { outputs: await start(request, undo), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Undoes, last first, whatever was started so far. */
type Undo = (() => unknown)[];

async function start(request: LocalCloudRequest, undo: Undo): Promise<RunOutputs> {
  const { root, terminal, dataDirectory, outputsFile } = request;
  await claimOutputs(outputsFile);
  const fronts = await startFronts(portsFrom(request.port), undo);
  const data = dataDirectory === undefined ? undefined : openDataDirectory(dataDirectory);
  undo.push(() => data?.release());
  const run = makeRunDirectory(join(root, '.local/runs'));
  undo.push(run.remove);

  const output = join(run.path, 'cdk.out');
  const surroundings = await terminal.step('Synthesising the CDK app', () =>
    prepare(request, output, () => startSurroundings(request, data, run.path, undo)),
  );
  return terminal.step('Starting the local cloud', () =>
    deploy(request, surroundings, fronts, readAssembly(output), data?.demoFile, undo),
  );
}

async function startFronts(ports: RunPorts, undo: Undo) {
  const auth = await startHttpFront(ports.auth);
  undo.push(auth.stop);
  const base = await startHttpFront(ports.base);
  undo.push(base.stop);
  return { auth, base };
}

/** Both take a while and neither needs the other. When one fails the other is waited for, so that it can be undone. */
async function prepare(request: LocalCloudRequest, output: string, surroundings: () => Promise<Surroundings>) {
  const { root, stageValues } = request;
  const breaking = new AbortController();
  const signal = AbortSignal.any([request.signal, breaking.signal]);
  const logFile = join(root, '.local/synthesis.log');
  const [surrounded, synthesised] = await Promise.allSettled([
    surroundings().catch(error => {
      breaking.abort();
      throw error;
    }),
    synthesise({ root, output, stageValues, logFile, signal }),
  ]);
  if (surrounded.status === 'rejected') throw surrounded.reason;
  if (synthesised.status === 'rejected') throw synthesised.reason;
  return surrounded.value;
}

/** Everything that the template does not decide: the Internet, the services, what function processes load. */
async function startSurroundings(
  request: LocalCloudRequest,
  data: DataDirectory | undefined,
  runPath: string,
  undo: Undo,
) {
  const { terminal } = request;
  const ports = portsFrom(request.port);
  const internet = await startLoopbackInternet(
    { ...request, receiverPort: ports.receiver },
    {
      onDelivery: delivery => terminal.note('receiver', describeDelivery(delivery)),
      onHostsChange: change =>
        'fault' in change
          ? terminal.note('hosts', `${change.fault} The names stay as they were.`, 'warn')
          : terminal.note('hosts', `read again: ${change.names} names`),
      onAbsence: (name, port) =>
        terminal.note('internet', `nothing listens at http://127.0.0.1:${port} (${name}): start your receiver`, 'warn'),
    },
  );
  undo.push(internet.stop);
  for (const name of request.mappings.keys()) {
    const fault = nameProblem(name, []);
    if (fault !== undefined) terminal.note('internet', `no webhook can lead to "${name}": ${fault}`, 'warn');
  }
  const faults = openFaults(request, undo);
  const listeners = {
    onPublish: (topic: string, subject: string) => terminal.note('notification', `${topic}  ${subject}`),
    onRefusal: (message: string) => terminal.note('iam', message, 'warn'),
  };
  const services = await startServices(data, listeners, { faults, ports, isFair: request.queueOrder === 'fair' });
  undo.push(services.stop);
  const files = await writeRuntimeFiles(runPath, internet.preload, internet.authorityCertificate);
  return { internet, services, files, faults };
}

/** Brings the template to life and lets the world in. */
async function deploy(
  request: LocalCloudRequest,
  { internet, services, files, faults }: Surroundings,
  { auth, base }: { auth: HttpFront; base: HttpFront },
  assembly: Assembly,
  demoFile: string | undefined,
  undo: Undo,
): Promise<RunOutputs> {
  const { terminal } = request;
  const blueprint = drawBlueprint(assembly, { auth: auth.port, base: base.port, queueUrl: services.sqs.urlOf });
  await provisionState(blueprint, services);
  const logs = await startLogs();
  undo.push(logs.stop);
  const functions = provisionFunctions(blueprint, {
    surroundings: { ...files, endpoints: services.endpoints },
    onLine: ({ label, logGroup }, line) => {
      logs.put(logGroup, line);
      terminal.log(label, line);
    },
  });
  undo.push(() => [...functions.values()].map(({ end }) => end()));
  await runTriggers(blueprint, functions);
  const demo = await provisionDemo(blueprint, services, demoFile);
  request.signal.throwIfAborted();

  const traffic = startTraffic({ blueprint, functions, services, fronts: [auth, base], terminal, faults });
  undo.push(() => Promise.race([traffic.stop(), wait(grace)]));
  const stacks = { ...blueprint.outputs, LogsEndpoint: logs.endpoint };
  const outputs = runOutputs(stacks, services, internet.receiverUrl, demo);
  undo.push(writeOutputs(request.outputsFile, outputs));
  return outputs;
}

type Surroundings = Awaited<ReturnType<typeof startSurroundings>>;

function describeDelivery({ method, path, headers, body, status }: ReceivedDelivery): string {
  const event = /"event"\s*:\s*"([\w.]+)"/.exec(body)?.[1] ?? '';
  return [method, path, event, headers['webhook-id'] ?? '', `answered ${status}`]
    .filter(part => part !== '')
    .join('  ');
}

function openFaults({ faultsFile, terminal }: LocalCloudRequest, undo: Undo): Faults {
  if (faultsFile === undefined) return noFaults;
  const faults = faultsOf(faultsFile, Math.random, kind =>
    terminal.note('faults', `${kind}, as ${faultsFile} asks`, 'warn'),
  );
  const unwatch = watchFaults(faultsFile, fault =>
    fault === undefined
      ? terminal.note('faults', 'read again')
      : terminal.note('faults', `${fault} The shares stay as they were.`, 'warn'),
  );
  undo.push(unwatch);
  return faults;
}

/** Milliseconds that invocations under way are given when the run ends. */
const grace = 5_000;
