import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import { region } from '../assembly/identities.ts';
import type { NetworkSettings } from '../internet/host-map.ts';
import type { FunctionDefinition } from './definition.ts';

/** The values that all function processes of a run share. */
export interface RuntimeContext {
  /** The endpoints of the emulators, by the service name in the SDK's variables: `DYNAMODB`, `SQS`, `KMS` or `SNS`. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** The file with the certificate (PEM) of the run's certificate authority. */
  readonly authorityFile: string;
  /** The script that runs a handler. */
  readonly bootstrapFile: string;
  /** The URL of the compiled `internet/preload.ts`, including its settings. */
  readonly preloadUrl: string;
}

/**
 * Writes the files that function processes load in addition to their bundle. It compiles them once per run, because
 * stripping types would take 30 ms in every process.
 */
export async function writeRuntimeFiles(
  directory: string,
  network: NetworkSettings,
  authorityCertificate: string,
): Promise<Omit<RuntimeContext, 'endpoints'>> {
  await build({
    entryPoints: sources,
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'silent',
  });
  await stop(); // ends esbuild's process
  const authorityFile = join(directory, 'authority.pem');
  writeFileSync(authorityFile, authorityCertificate);
  const preloadUrl = pathToFileURL(join(directory, 'preload.mjs'));
  preloadUrl.searchParams.set('settings', JSON.stringify(network));
  return { authorityFile, bootstrapFile: join(directory, 'bootstrap.mjs'), preloadUrl: preloadUrl.href };
}

/**
 * Returns the environment of a function process. It contains Lambda's variables, the variables in the template and the
 * endpoints, but no variables of this process.
 */
export function functionVariables(definition: FunctionDefinition, context: RuntimeContext): Record<string, string> {
  const endpoints = Object.entries(context.endpoints);
  return {
    ...definition.variables,
    ...Object.fromEntries(endpoints.map(([service, endpoint]) => [`AWS_ENDPOINT_URL_${service}`, endpoint])),
    AWS_ACCESS_KEY_ID: definition.name, // identifies the caller to the emulators
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_REGION: region,
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memory),
    LAMBDA_TASK_ROOT: definition.directory,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: ':UTC',
    _HANDLER: definition.handler,
    NODE_EXTRA_CA_CERTS: context.authorityFile,
  };
}

const sources = {
  bootstrap: fileURLToPath(import.meta.resolve('./bootstrap.ts')),
  preload: fileURLToPath(import.meta.resolve('../internet/preload.ts')),
};
