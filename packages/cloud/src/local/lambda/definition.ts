import * as z from 'zod';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';

export interface FunctionDefinition {
  readonly name: string;
  /** The name in the terminal, such as `auth/token`. */
  readonly label: string;
  /** The directory of the bundle. */
  readonly directory: string;
  /** The handler, as `file.export`. */
  readonly handler: string;
  /** The memory in MiB. */
  readonly memory: number;
  readonly timeoutSeconds: number;
  readonly variables: Readonly<Record<string, string>>;
  readonly logGroup: string;
}

/**
 * Parses a function in the template.
 *
 * @param assets - the directory of each bundle, by object key
 * @throws {StartError}
 */
export function functionOf(resource: LiveResource, assets: ReadonlyMap<string, string>): FunctionDefinition {
  const { name } = resource;
  const { Code, Handler, MemorySize, Timeout, Environment, LoggingConfig } = readProperties(functionSchema, resource);
  const directory = assets.get(Code.S3Key);
  if (directory === undefined) throw new StartError(`${name} has no code in the assembly.`);
  return {
    name,
    label: labelOf(resource),
    directory,
    handler: Handler,
    memory: MemorySize,
    timeoutSeconds: Timeout,
    variables: Environment?.Variables ?? {},
    logGroup: LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`,
  };
}

const functionSchema = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string(),
  Runtime: z.string().startsWith('nodejs', 'only Node.js is supported locally'),
  MemorySize: z.number().default(128),
  Timeout: z.number().default(3),
  Environment: z.object({ Variables: z.record(z.string(), z.coerce.string()).default({}) }).optional(),
  LoggingConfig: z.object({ LogGroup: z.string().optional() }).optional(),
});

/** `App-local-Auth` and `RotateKeys1A2B3C4D` become `auth/rotate-keys`. */
function labelOf({ stack, logicalId }: LiveResource): string {
  const construct = logicalId.replace(/[0-9A-F]{8}$/, '').replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-');
  return `${stack.split('-').at(-1)}/${construct}`.toLowerCase();
}
