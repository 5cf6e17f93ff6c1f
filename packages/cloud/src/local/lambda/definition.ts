import * as z from 'zod';
import { functionArn, physicalName } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';

export interface FunctionDefinition {
  readonly name: string;
  readonly arn: string;
  /** Its name in the terminal: `auth/token`. */
  readonly label: string;
  /** Directory of its bundle. */
  readonly directory: string;
  /** `file.export` */
  readonly handler: string;
  /** MiB */
  readonly memory: number;
  readonly timeoutSeconds: number;
  readonly variables: Readonly<Record<string, string>>;
  readonly reservedConcurrency?: number | undefined;
  readonly logFormat: string;
  readonly logLevel?: string | undefined;
  readonly logGroup: string;
}

/**
 * Reads a function of the template.
 *
 * @param assets - directory of each bundle, by object key
 * @throws {StartError}
 */
export function functionOf(resource: LiveResource, assets: ReadonlyMap<string, string>): FunctionDefinition {
  const properties = readProperties(functionSchema, resource);
  const name = properties.FunctionName ?? physicalName(resource.stack, resource.logicalId, 64);
  const directory = assets.get(properties.Code.S3Key);
  if (directory === undefined)
    throw new StartError(`${resource.stack}/${resource.logicalId} has no code in the assembly.`);
  const { LogFormat, LogGroup, ApplicationLogLevel } = properties.LoggingConfig;
  return {
    name,
    arn: functionArn(name),
    label: labelOf(resource),
    directory,
    handler: properties.Handler,
    memory: properties.MemorySize,
    timeoutSeconds: properties.Timeout,
    variables: properties.Environment?.Variables ?? {},
    reservedConcurrency: properties.ReservedConcurrentExecutions,
    logFormat: LogFormat ?? 'Text',
    logLevel: ApplicationLogLevel,
    logGroup: LogGroup ?? `/aws/lambda/${name}`,
  };
}

const functionSchema = z.object({
  FunctionName: z.string().optional(),
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string(),
  Runtime: z.string().startsWith('nodejs', 'only Node.js runs locally'),
  MemorySize: z.number().default(128),
  Timeout: z.number().default(3),
  Environment: z.object({ Variables: z.record(z.string(), z.coerce.string()).default({}) }).optional(),
  ReservedConcurrentExecutions: z.number().optional(),
  LoggingConfig: z
    .object({
      LogFormat: z.string().optional(),
      LogGroup: z.string().optional(),
      ApplicationLogLevel: z.string().optional(),
    })
    .default({}),
});

/** `App-local-Auth` and `RotateKeys1A2B3C4D` become `auth/rotate-keys`. */
function labelOf({ stack, logicalId }: LiveResource): string {
  const construct = logicalId.replace(/[0-9A-F]{8}$/, '').replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-');
  return `${stack.split('-').at(-1)}/${construct}`.toLowerCase();
}
