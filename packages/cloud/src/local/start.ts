import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Assembly, type CdkApp, readAssembly, synthesise } from './assembly/assembly.ts';
import { region } from './assembly/identities.ts';
import { requiredOutput, resolveTemplate } from './assembly/resources.ts';
import { provisionFunctions, provisionState, runDeploymentTriggers, startTriggers } from './deployment.ts';
import { type DataDirectory, makeRunDirectory, openDataDirectory } from './directories.ts';
import { parseShares, readFaults } from './faults.ts';
import { watchChanges } from './followed-file.ts';
import { type HttpServer, startHttpServer } from './http-api/server.ts';
import { makeIamEnforcer } from './iam/enforcer.ts';
import { functionPolicies, requireConsumers } from './iam/policies.ts';
import { type Site, startInternet } from './internet/internet.ts';
import { writeRuntimeFiles } from './lambda/runtime-context.ts';
import { type RunOutputs, requireWritable, writeOutputs } from './outputs.ts';
import { type ServicePorts, startServices } from './services.ts';
import type { Terminal } from './terminal.ts';

export { requiredOutput } from './assembly/resources.ts';
export type { RunOutputs } from './outputs.ts';
export { openTerminal, type Terminal } from './terminal.ts';

export interface LocalCloudRequest<Extra extends object = object> {
  /** The CDK app to synthesise, or the directory of its cloud assembly. */
  readonly app: CdkApp | { readonly assemblyDirectory: string };
  /** The port of each HTTP API, by the name of its output. 0 selects any free port. */
  readonly apis: Readonly<Record<string, number>>;
  readonly ports: ServicePorts;
  /** A server in the calling program with a public name, and the output for its local address. */
  readonly site: Site & { readonly output: string };
  /** The port of an HTTP server on 127.0.0.1 for each public host name. */
  readonly mappings: ReadonlyMap<string, number>;
  /** A file with more names. Its changes take effect immediately. @default - no file */
  readonly hostsFile?: string;
  /** A file with the faults to inject. Its changes take effect immediately. @default - no faults */
  readonly faultsFile?: string;
  /** The directory that stores tables, queues and keys across restarts. @default - state is in memory only */
  readonly dataDirectory?: string;
  /** The directory for the files of the run. */
  readonly workDirectory: string;
  /** The file that contains the outputs while the cloud is running. */
  readonly outputsFile: string;
  readonly terminal: Terminal;
  /** Cancels a start that is still in progress. */
  readonly signal: AbortSignal;
  /** Returns further outputs. It runs after the deployment, before the cloud processes requests, messages or schedules. */
  afterDeployment(outputs: RunOutputs): Promise<Extra>;
}

export interface LocalCloud<Extra extends object = object> {
  readonly outputs: RunOutputs & Extra;
  /** Waits up to 5 seconds for running invocations, then stops everything. */
  stop(): Promise<void>;
}

/**
 * Starts a local cloud, which runs the templates of a CDK app on 127.0.0.1. If the start fails, it stops everything that it
 * has started.
 *
 * @throws {StartError} if the user can correct the error
 */
export async function startLocalCloud<Extra extends object>(
  request: LocalCloudRequest<Extra>,
): Promise<LocalCloud<Extra>> {
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

/** The steps that stop a cloud. They run in reverse order. */
type Cleanup = (() => unknown)[];

async function start<Extra extends object>(request: LocalCloudRequest<Extra>, cleanup: Cleanup) {
  const { apis, terminal, dataDirectory, outputsFile, workDirectory } = request;
  requireWritable(outputsFile);
  const servers = new Map<string, HttpServer>();
  for (const [output, port] of Object.entries(apis)) {
    const server = await startHttpServer(port); // reports a port in use before any slow step
    cleanup.push(server.stop);
    servers.set(output, server);
  }
  const data = dataDirectory === undefined ? undefined : openDataDirectory(dataDirectory);
  cleanup.push(() => data?.release());
  const run = makeRunDirectory(resolve(workDirectory, 'runs'));
  cleanup.push(run.remove);

  // Both steps are slow and independent, so they run in parallel. If one fails, the other must end before the cleanup.
  const failed = new AbortController();
  const [foundation, assembly] = await Promise.allSettled([
    startFoundation(request, data, run.path, cleanup).catch(error => {
      failed.abort();
      throw error;
    }),
    assemblyOf(request, join(run.path, 'cdk.out'), failed.signal),
  ]);
  if (foundation.status === 'rejected') throw foundation.reason;
  if (assembly.status === 'rejected') throw assembly.reason;
  return terminal.step('Starting the local cloud', async () => {
    const outputs = await deploy(request, foundation.value, data, servers, assembly.value, cleanup);
    cleanup.push(writeOutputs(outputsFile, outputs));
    return outputs;
  });
}

async function assemblyOf({ app, terminal, signal }: LocalCloudRequest, output: string, failed: AbortSignal) {
  if ('assemblyDirectory' in app) return readAssembly(app.assemblyDirectory);
  const cancelled = AbortSignal.any([signal, failed]);
  await terminal.step('Synthesising the CDK app', () => synthesise(app, output, cancelled));
  return readAssembly(output);
}

type Foundation = Awaited<ReturnType<typeof startFoundation>>;

/** Starts the parts that do not depend on the template: the network, the services, and the files that function processes load. */
async function startFoundation(
  request: LocalCloudRequest,
  data: DataDirectory | undefined,
  runPath: string,
  cleanup: Cleanup,
) {
  const { terminal, ports } = request;
  const internet = await startInternet(request, terminal.note);
  cleanup.push(internet.stop);
  const iam = makeIamEnforcer(message => terminal.note('iam', message, 'warn'));
  const faults = openFaults(request, cleanup);
  const services = await startServices(
    {
      interceptors: [iam.interceptor, ...(faults ? [faults.interceptor] : [])],
      queueFaults: faults?.queueFaults,
      ...{ data, ports },
      onPublish: (topic, subject) => terminal.note('notification', `${topic}  ${subject}`),
    },
    stop => cleanup.push(stop),
  );
  const files = await writeRuntimeFiles(runPath, internet.settings, internet.authorityCertificate);
  return { internet, iam, services, files };
}

function openFaults({ faultsFile: file, terminal }: LocalCloudRequest, cleanup: Cleanup) {
  if (file === undefined) return undefined;
  const unwatch = watchChanges(file, parseShares, problem => {
    if (problem === undefined) terminal.note('faults', 'reloaded');
    else terminal.note('faults', `${problem} The previous shares stay in effect.`, 'warn');
  });
  cleanup.push(unwatch);
  return readFaults(file, Math.random(), fault => terminal.note('faults', `${fault}, as set in ${file}`, 'warn'));
}

/** Creates the resources of the template, then enables requests, messages and schedules. */
async function deploy<Extra extends object>(
  request: LocalCloudRequest<Extra>,
  { internet, iam, services, files }: Foundation,
  data: DataDirectory | undefined,
  serversByOutput: ReadonlyMap<string, HttpServer>,
  assembly: Assembly,
  cleanup: Cleanup,
): Promise<RunOutputs & Extra> {
  const { terminal, site, signal } = request;
  const ids = resolveTemplate(assembly, { queueUrl: String, apiEndpoint: String }).outputs;
  const servers = new Map([...serversByOutput].map(([output, server]) => [requiredOutput(ids, output), server]));
  const apiEndpoint = (id: string) => `http://127.0.0.1:${servers.get(id)?.port}`;
  const template = resolveTemplate(assembly, { queueUrl: services.sqs.urlOf, apiEndpoint });
  const policies = functionPolicies(template.resources);
  requireConsumers(template.resources, policies);
  iam.enforce(policies);
  provisionState(template, services);
  data?.save(services.state, problem => terminal.note('data', problem, 'warn'));
  const functions = provisionFunctions(template, {
    runtimeContext: { ...files, endpoints: services.endpoints },
    onLine: ({ label, logGroup }, line) => {
      services.logs.put(logGroup, line);
      terminal.log(label, line);
    },
  });
  cleanup.push(() => [...functions.values()].map(({ end }) => end()));
  await runDeploymentTriggers(template.resources, functions);
  const { DYNAMODB, SQS, SNS, KMS } = services.endpoints;
  const deployed: RunOutputs = {
    ...template.outputs,
    ...{ DynamoDbEndpoint: DYNAMODB, SqsEndpoint: SQS, SnsEndpoint: SNS, KmsEndpoint: KMS },
    LogsEndpoint: services.logs.endpoint,
    Region: region,
    [site.output]: internet.siteUrl,
  };
  const outputs = { ...deployed, ...(await request.afterDeployment(deployed)) };
  signal.throwIfAborted();
  const stopTriggers = startTriggers(template, functions, servers, services, terminal);
  cleanup.push(() => Promise.race([stopTriggers(), wait(stopTimeout)]));
  return outputs;
}

/** The maximum time in milliseconds for running invocations to finish when the run stops. */
const stopTimeout = 5_000;
