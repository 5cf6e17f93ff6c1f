import { region } from '../assembly/identities.ts';
import type { FunctionDefinition } from './definition.ts';

/** What every function process of a run has in common. */
export interface RuntimeSurroundings {
  /** Endpoints of the stand-ins, by the name the SDK's variables have them under: `DYNAMODB`, `SQS`, `KMS`, `SNS`. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** PEM file of the certificate authority behind the loopback Internet. */
  readonly authorityFile: string;
  /** What runs a handler: the runtime's half of the Runtime API. */
  readonly bootstrapFile: string;
  /** URL of the loopback Internet's preload, with its settings. */
  readonly preloadUrl: string;
}

/**
 * The environment of a function process: what Lambda sets, the template's variables, and the endpoints. Nothing of the
 * runner's own environment, so that a bundle cannot lean on the machine it happens to run on.
 */
export function functionVariables(
  definition: FunctionDefinition,
  surroundings: RuntimeSurroundings,
  runtimeApi: string,
): Record<string, string> {
  return {
    ...definition.variables,
    ...Object.fromEntries(
      Object.entries(surroundings.endpoints).map(([service, endpoint]) => [`AWS_ENDPOINT_URL_${service}`, endpoint]),
    ),
    AWS_ACCESS_KEY_ID: definition.name, // tells the stand-ins who is asking
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memory),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_FORMAT: definition.logFormat,
    ...(definition.logLevel === undefined ? {} : { AWS_LAMBDA_LOG_LEVEL: definition.logLevel }),
    AWS_LAMBDA_LOG_GROUP_NAME: definition.logGroup,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    LAMBDA_TASK_ROOT: definition.directory,
    LAMBDA_RUNTIME_DIR: '/var/runtime',
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: ':UTC',
    _HANDLER: definition.handler,
    NODE_EXTRA_CA_CERTS: surroundings.authorityFile,
  };
}
