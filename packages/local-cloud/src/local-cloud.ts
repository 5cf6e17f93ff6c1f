import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { judgeName } from '../../../lambdas/platform/egress/host-name.ts';
import { type Assembly, readAssembly, synthesise } from './assembly/assembly.ts';
import { functionsBeside } from './deployment/beside.ts';
import { provisionDemo } from './deployment/demo-data.ts';
import { type Functions, provisionFunctions, provisionState, runDeploymentTriggers } from './deployment/provision.ts';
import { resolveTemplate } from './deployment/resolved-template.ts';
import { startTriggers } from './deployment/triggers.ts';
import { type DataDirectory, makeRunDirectory, openDataDirectory } from './directories.ts';
import { type FaultInjection, makeFaultInterceptor, readFaultInjection, watchFaults } from './fault-injection.ts';
import { type HttpServer, startHttpServer } from './http-api/server.ts';
import { makeIamEnforcer } from './iam/enforcer.ts';
import { functionPolicies } from './iam/policies.ts';
import { startInternet } from './internet/internet.ts';
import type { ReceivedDelivery } from './internet/receiver.ts';
import type { FunctionHost } from './lambda/function.ts';
import { writeRuntimeFiles } from './lambda/runtime-context.ts';
import type { LocalOptions } from './options.ts';
import { portsFrom, type RunPorts } from './options.ts';
import { claimOutputs, type RunOutputs, runOutputs, writeOutputs } from './outputs.ts';
import { startServices } from './services.ts';
import type { Terminal } from './terminal.ts';

/** What a local run is started with. */
export interface LocalCloudRequest extends LocalOptions {
  /** Directory of the project. */
  readonly root: string;
  readonly terminal: Terminal;
  /** Cancels a start that is still in progress. */
  readonly signal: AbortSignal;
}

/** A local run that is ready. */
export interface LocalCloud {
  readonly outputs: RunOutputs;
  /** Gives running invocations a few seconds to end, then stops everything. */
  stop(): Promise<void>;
}

/**
 * Starts a local run: synthesises the CDK app for stage `local` and runs its template on 127.0.0.1.
 *
 * @throws {StartError} for what the user can correct; everything started so far is stopped first.
 */
export async function startLocalCloud(request: LocalCloudRequest): Promise<LocalCloud> {
  const cleanup: Cleanup = [];
  const stop = async (): Promise<void> => {
    for (let step = cleanup.pop(); step; step = cleanup.pop()) await step();
  };
  try {
    return { outputs: await start(request, cleanup), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Stops what was started so far, last first. */
type Cleanup = (() => unknown)[];

async function start(request: LocalCloudRequest, cleanup: Cleanup): Promise<RunOutputs> {
  const { root, terminal, dataDirectory, outputsFile, assemblyDirectory, besideDirectory } = request;
  const given = assemblyDirectory === undefined ? undefined : readAssembly(assemblyDirectory);
  const beside = besideDirectory === undefined ? undefined : readAssembly(besideDirectory);
  await claimOutputs(outputsFile);
  const servers = await startServers(portsFrom(request.port), cleanup);
  const data = dataDirectory === undefined ? undefined : openDataDirectory(dataDirectory);
  cleanup.push(() => data?.release());
  const run = makeRunDirectory(join(root, '.local/runs'));
  cleanup.push(run.remove);

  const output = join(run.path, 'cdk.out');
  const startOthers = () => startEmulators(request, data, run.path, cleanup);
  const emulators = given
    ? await startOthers()
    : await terminal.step('Synthesising the CDK app', () => whileSynthesising(request, output, startOthers));
  return terminal.step('Starting the local cloud', () =>
    deploy(request, emulators, servers, { assembly: given ?? readAssembly(output), beside }, data?.demoFile, cleanup),
  );
}

/** The servers of the HTTP APIs listen from the start, so that a port in use is noticed before anything else is done. */
async function startServers(ports: RunPorts, cleanup: Cleanup) {
  const auth = await startHttpServer(ports.auth);
  cleanup.push(auth.stop);
  const base = await startHttpServer(ports.base);
  cleanup.push(base.stop);
  return { auth, base };
}

/**
 * Synthesises and starts the emulators at the same time: both take a while and neither needs the other. When one fails
 * the other is awaited, so that it can be stopped.
 */
async function whileSynthesising(request: LocalCloudRequest, output: string, startOthers: () => Promise<Emulators>) {
  const { root, stageValues } = request;
  const failed = new AbortController();
  const signal = AbortSignal.any([request.signal, failed.signal]);
  const logFile = join(root, '.local/synthesis.log');
  const [started, synthesised] = await Promise.allSettled([
    startOthers().catch(error => {
      failed.abort();
      throw error;
    }),
    synthesise({ root, output, stageValues, logFile, signal }),
  ]);
  if (started.status === 'rejected') throw started.reason;
  if (synthesised.status === 'rejected') throw synthesised.reason;
  return started.value;
}

/** Starts all that does not depend on the template: the network, the services, and the files that function processes load. */
async function startEmulators(
  request: LocalCloudRequest,
  data: DataDirectory | undefined,
  runPath: string,
  cleanup: Cleanup,
) {
  const { terminal } = request;
  const ports = portsFrom(request.port);
  const internet = await startInternet(
    { ...request, receiverPort: ports.receiver },
    {
      onDelivery: delivery => terminal.note('receiver', describeDelivery(delivery)),
      onHostsChange: change =>
        'problem' in change
          ? terminal.note('hosts', `${change.problem} The names stay as they were.`, 'warn')
          : terminal.note('hosts', `read again: ${change.names} names`),
      onUnreachable: (name, port) =>
        terminal.note('internet', `nothing listens at http://127.0.0.1:${port} (${name}): start your receiver`, 'warn'),
    },
  );
  cleanup.push(internet.stop);
  for (const name of request.mappings.keys()) {
    const finding = judgeName(name, []);
    if (finding) terminal.note('internet', `no webhook can lead to "${name}": ${finding.detail}`, 'warn');
  }
  const iam = makeIamEnforcer(message => terminal.note('iam', message, 'warn'));
  const faults = openFaultInjection(request, cleanup);
  const services = await startServices({
    interceptors: [iam.interceptor, ...(faults ? [makeFaultInterceptor(faults)] : [])],
    data,
    ports,
    isFair: request.queueOrder === 'fair',
    onPublish: (topic, subject) => terminal.note('notification', `${topic}  ${subject}`),
  });
  cleanup.push(services.stop);
  const files = await writeRuntimeFiles(runPath, internet.settings, internet.authorityCertificate);
  return { internet, iam, faults, services, files };
}

/** Creates what the template describes, then lets requests, messages and schedules in. */
async function deploy(
  request: LocalCloudRequest,
  { internet, iam, faults, services, files }: Emulators,
  { auth, base }: { auth: HttpServer; base: HttpServer },
  { assembly, beside }: { assembly: Assembly; beside: Assembly | undefined },
  demoFile: string | undefined,
  cleanup: Cleanup,
): Promise<RunOutputs> {
  const { terminal } = request;
  const template = resolveTemplate(assembly, { auth: auth.port, base: base.port, queueUrl: services.sqs.urlOf });
  iam.enforce(functionPolicies(template.resources, template.assets));
  await provisionState(template, services);
  const others = beside && functionsBeside(beside, assembly, template.environment);
  const onLine: FunctionHost['onLine'] = ({ label, logGroup }, line) => {
    services.logs.put(logGroup, line);
    terminal.log(label, line);
  };
  const runtimeContext = { ...files, endpoints: services.endpoints };
  const functions = provisionFunctions(template, { runtimeContext, onLine }, others);
  cleanup.push(() => reportReleases(functions, terminal));
  cleanup.push(() => [...functions.values()].map(({ end }) => end()));
  await runDeploymentTriggers(template, functions);
  const demo = await provisionDemo(template, services.dynamoDb.endpoint, demoFile);
  request.signal.throwIfAborted();

  const repeats = () => faults?.happens('repeatedBatches') ?? false;
  const triggers = startTriggers({ template, functions, sqs: services.sqs, servers: [auth, base], terminal, repeats });
  cleanup.push(() => Promise.race([triggers.stop(), wait(grace)]));
  const outputs = runOutputs(template.outputs, services, internet.receiverUrl, demo);
  cleanup.push(writeOutputs(request.outputsFile, outputs));
  return outputs;
}

/** Says how many invocations each release was given, where two serve. */
function reportReleases(functions: Functions, terminal: Terminal): void {
  for (const { definition, served } of functions.values()) {
    if (!served) continue;
    const { own, other } = served;
    terminal.note('beside', `${definition.label}: ${own} invocations by this release, ${other} by the other`);
  }
}

type Emulators = Awaited<ReturnType<typeof startEmulators>>;

function describeDelivery({ method, path, headers, body, status }: ReceivedDelivery): string {
  const event = /"event"\s*:\s*"([\w.]+)"/.exec(body)?.[1] ?? '';
  return [method, path, event, headers['webhook-id'] ?? '', `answered ${status}`]
    .filter(part => part !== '')
    .join('  ');
}

function openFaultInjection({ faultsFile, terminal }: LocalCloudRequest, cleanup: Cleanup): FaultInjection | undefined {
  if (faultsFile === undefined) return undefined;
  const faults = readFaultInjection(faultsFile, Math.random, kind =>
    terminal.note('faults', `${kind}, as ${faultsFile} asks`, 'warn'),
  );
  const unwatch = watchFaults(faultsFile, problem =>
    problem === undefined
      ? terminal.note('faults', 'read again')
      : terminal.note('faults', `${problem} The shares stay as they were.`, 'warn'),
  );
  cleanup.push(unwatch);
  return faults;
}

/** Milliseconds that running invocations are given when the run stops. */
const grace = 5_000;
