import type { Assembly } from '../assembly/assembly.ts';
import { makeEnvironment } from '../assembly/identities.ts';
import { type Environment, makeResolver } from '../assembly/intrinsics.ts';
import { type LiveResource, liveResources } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';
import { requiredOutput, stackOutputs } from '../outputs.ts';

/** The resources and outputs of all stacks, with the names, ARNs and addresses of this run. */
export interface ResolvedTemplate {
  readonly resources: readonly LiveResource[];
  readonly outputs: Readonly<Record<string, string>>;
  /** Directory of each function's bundle, by object key. */
  readonly assets: ReadonlyMap<string, string>;
  /** Port of each HTTP API, by its id. */
  readonly apiPorts: ReadonlyMap<string, number>;
  /** The names, ARNs and addresses of this run. */
  readonly environment: Environment;
  /** What `Ref` or `Fn::GetAtt` gives for a resource. */
  attributeOf(resource: LiveResource, attribute: string): string;
}

/** Where the APIs and queues listen. */
export interface Ports {
  /** Of the API behind the output `AuthUrl`. */
  readonly auth: number;
  /** Of the API behind the output `BaseUrl`. */
  readonly base: number;
  /** URL of the queue with that name. */
  readonly queueUrl: (name: string) => string;
}

/**
 * Resolves the templates of an assembly.
 *
 * @throws {StartError} for what the local cloud does not support.
 */
export function resolveTemplate(assembly: Assembly, ports: Ports): ResolvedTemplate {
  const apiPorts = assignPorts(assembly, ports);
  const environment = makeEnvironment({
    queueUrl: ports.queueUrl,
    apiEndpoint: id => {
      const port = apiPorts.get(id);
      if (port === undefined) throw new StartError('The local cloud runs two HTTP APIs: those of AuthUrl and BaseUrl.');
      return `http://127.0.0.1:${port}`;
    },
  });
  const resolve = makeResolver(assembly.stacks, environment);
  return {
    resources: liveResources(assembly, resolve),
    outputs: stackOutputs(assembly.stacks, resolve),
    assets: assembly.assets,
    apiPorts,
    environment,
    attributeOf: ({ stack, logicalId, type, properties }, attribute) => {
      const resource = { Type: type, Properties: properties };
      return environment.attributeOf({ stack, logicalId, resource, attribute, resolve: node => node });
    },
  };
}

/** Resolves the outputs with ids instead of addresses first, which shows which API is which. */
function assignPorts(assembly: Assembly, ports: Ports): ReadonlyMap<string, number> {
  const symbolic = makeEnvironment({ queueUrl: name => name, apiEndpoint: id => `api:${id}` });
  const outputs = stackOutputs(assembly.stacks, makeResolver(assembly.stacks, symbolic));
  const idIn = (name: string): string => {
    const [, id] = /^api:(\w+)$/.exec(requiredOutput(outputs, name)) ?? [];
    if (id === undefined)
      throw new StartError(`The output "${name}" must be the endpoint of an HTTP API to run locally.`);
    return id;
  };
  return new Map([
    [idIn('AuthUrl'), ports.auth],
    [idIn('BaseUrl'), ports.base],
  ]);
}
