import type { DataDirectory } from './directories.ts';
import { readFaults, watchFaults } from './faults.ts';
import { makeIamEnforcer } from './iam/enforcer.ts';
import { startInternet } from './internet/internet.ts';
import { writeRuntimeFiles } from './lambda/runtime-context.ts';
import type { LocalCloudRequest } from './request.ts';
import { startServices } from './services.ts';

/** The steps that stop all that was started so far, last first. */
export type Cleanup = (() => unknown)[];

/** All that does not depend on the template. */
export type Foundation = Awaited<ReturnType<typeof startFoundation>>;

/** Starts all that does not depend on the template: the network, the services, and the files that function processes load. */
export async function startFoundation(
  request: LocalCloudRequest,
  data: DataDirectory | undefined,
  runPath: string,
  cleanup: Cleanup,
) {
  const { terminal, mappings = new Map<string, number>(), ports = {} } = request;
  const internet = await startInternet(
    { ...request, mappings },
    {
      onHostsChange: change =>
        'problem' in change
          ? terminal.note('hosts', `${change.problem} The names stay as they were.`, 'warn')
          : terminal.note('hosts', `read again: ${change.content.size} names`),
      onUnreachable: (name, port) =>
        terminal.note('internet', `nothing listens at http://localhost:${port} (${name}): start your receiver`, 'warn'),
    },
  );
  cleanup.push(internet.stop);
  const iam = makeIamEnforcer(message => terminal.note('iam', message, 'warn'));
  const faults = openFaults(request, cleanup);
  const services = await startServices({
    interceptors: [iam.interceptor, ...(faults ? [faults.interceptor] : [])],
    queueFaults: faults?.queueFaults,
    data,
    ports,
    onPublish: (topic, subject) => terminal.note('notification', `${topic}  ${subject}`),
  });
  cleanup.push(services.stop);
  const files = await writeRuntimeFiles(runPath, internet.settings, internet.authorityCertificate);
  return { internet, iam, services, files };
}

function openFaults({ faultsFile, terminal }: LocalCloudRequest, cleanup: Cleanup) {
  if (faultsFile === undefined) return undefined;
  const faults = readFaults(faultsFile, Math.random(), fault =>
    terminal.note('faults', `${fault}, as ${faultsFile} asks`, 'warn'),
  );
  const unwatch = watchFaults(faultsFile, change =>
    'problem' in change
      ? terminal.note('faults', `${change.problem} The shares stay as they were.`, 'warn')
      : terminal.note('faults', 'read again'),
  );
  cleanup.push(unwatch);
  return faults;
}
