import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Assembly, type CdkApp, readAssembly, synthesise } from './assembly/assembly.ts';
import { provisionFunctions, provisionState, runDeploymentTriggers } from './deployment/provision.ts';
import { resolveTemplate } from './deployment/resolved-template.ts';
import { startTriggers } from './deployment/triggers.ts';
import { type DataDirectory, makeRunDirectory, openDataDirectory } from './directories.ts';
import { type Cleanup, type Foundation, startFoundation } from './foundation.ts';
import { type HttpServer, startHttpServer } from './http-api/server.ts';
import { functionPolicies, requireConsumers } from './iam/policies.ts';
import type { FunctionHost } from './lambda/function.ts';
import { claimOutputs, type RunOutputs, runOutputs, writeOutputs } from './outputs.ts';
import type { LocalCloudRequest } from './request.ts';

export { type RunOutputs, requiredOutput } from './outputs.ts';
export type { LocalCloudRequest } from './request.ts';
export { openTerminal, type Terminal } from './terminal.ts';

export interface LocalCloud<Extra extends object = object> {
  readonly outputs: RunOutputs & Extra;
  /** Leaves running invocations a few seconds to end, then stops everything. */
  stop(): Promise<void>;
}

/**
 * Starts a local cloud: synthesises a CDK app and runs its templates on 127.0.0.1.
 *
 * @throws {StartError} for what the user can correct; everything started so far is stopped first.
 */
export async function startLocalCloud<Extra extends object = object>(
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

async function start<Extra extends object>(
  request: LocalCloudRequest<Extra>,
  cleanup: Cleanup,
): Promise<RunOutputs & Extra> {
  const { app, apis, terminal, dataDirectory, outputsFile } = request;
  const given = 'assemblyDirectory' in app ? readAssembly(app.assemblyDirectory) : undefined;
  if (outputsFile !== undefined) cleanup.push(claimOutputs(outputsFile));
  const servers = await startServers(apis, cleanup);
  const data = dataDirectory === undefined ? undefined : openDataDirectory(dataDirectory);
  cleanup.push(() => data?.release());
  const run = makeRunDirectory(resolve(request.workDirectory, 'runs'));
  cleanup.push(run.remove);

  const output = join(run.path, 'cdk.out');
  const startOthers = () => startFoundation(request, data, run.path, cleanup);
  const foundation =
    'assemblyDirectory' in app
      ? await startOthers()
      : await terminal.step('Synthesising the CDK app', () => whileSynthesising(app, request, output, startOthers));
  return terminal.step('Starting the local cloud', async () => {
    const outputs = await deploy(request, foundation, data, servers, given ?? readAssembly(output), cleanup);
    if (outputsFile !== undefined) cleanup.push(writeOutputs(outputsFile, outputs));
    return outputs;
  });
}

/** The servers of the HTTP APIs listen from the start, so that a port in use is noticed before anything else is done. */
async function startServers(apis: LocalCloudRequest['apis'], cleanup: Cleanup): Promise<ApiServers> {
  const servers = new Map<string, HttpServer>();
  for (const [output, port] of Object.entries(apis)) {
    const server = await startHttpServer(port);
    cleanup.push(server.stop);
    servers.set(output, server);
  }
  return servers;
}

/** By the name of the output that is the endpoint of the API. */
type ApiServers = ReadonlyMap<string, HttpServer>;

/**
 * Synthesises and starts the foundation at the same time: both take a while and neither needs the other. When one fails
 * the other is awaited, so that it can be stopped.
 */
async function whileSynthesising(
  app: CdkApp,
  { workDirectory, signal }: LocalCloudRequest,
  output: string,
  startOthers: () => Promise<Foundation>,
) {
  const failed = new AbortController();
  const [started, synthesised] = await Promise.allSettled([
    startOthers().catch(error => {
      failed.abort();
      throw error;
    }),
    synthesise(app, {
      output,
      logFile: resolve(workDirectory, 'synthesis.log'),
      signal: signal ? AbortSignal.any([signal, failed.signal]) : failed.signal,
    }),
  ]);
  if (started.status === 'rejected') throw started.reason;
  if (synthesised.status === 'rejected') throw synthesised.reason;
  return started.value;
}

/** Creates what the template describes, then lets requests, messages and schedules in. */
async function deploy<Extra extends object>(
  request: LocalCloudRequest<Extra>,
  { internet, iam, services, files }: Foundation,
  data: DataDirectory | undefined,
  servers: ApiServers,
  assembly: Assembly,
  cleanup: Cleanup,
): Promise<RunOutputs & Extra> {
  const { terminal } = request;
  const apis = new Map([...servers].map(([output, { port }]) => [output, port]));
  const template = resolveTemplate(assembly, apis, services.sqs.urlOf);
  const policies = functionPolicies(template.resources, template.assets);
  requireConsumers(template.resources, policies);
  iam.enforce(policies);
  provisionState(template, services);
  data?.keep(services.state, problem => terminal.note('data', problem, 'warn'));
  const onLine: FunctionHost['onLine'] = ({ label, logGroup }, line) => {
    services.logs.put(logGroup, line);
    terminal.log(label, line);
  };
  const runtimeContext = { ...files, endpoints: services.endpoints };
  const functions = provisionFunctions(template, { runtimeContext, onLine });
  cleanup.push(() => [...functions.values()].map(({ end }) => end()));
  await runDeploymentTriggers(template, functions);
  const deployed = runOutputs(template.outputs, services, internet.siteUrls);
  const outputs = { ...deployed, ...(await request.afterDeployment?.(deployed)) } as RunOutputs & Extra;
  request.signal?.throwIfAborted();

  const { sqs, logs } = services;
  const apiServers = [...servers.values()];
  const stopTriggers = startTriggers({
    template,
    functions,
    sqs,
    servers: apiServers,
    terminal,
    writeLog: logs.put,
  });
  cleanup.push(() => Promise.race([stopTriggers(), wait(grace)]));
  return outputs;
}

/** Milliseconds that running invocations are given when the run stops. */
const grace = 5_000;
