import type { Assembly } from '../assembly/assembly.ts';
import { makeEnvironment } from '../assembly/identities.ts';
import { makeResolver } from '../assembly/intrinsics.ts';
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
  /** Returns the value of `Ref` or `Fn::GetAtt` for a resource. */
  attributeOf(resource: LiveResource, attribute: string): string;
}

/**
 * Resolves the templates of an assembly.
 *
 * @param apis - the port of each HTTP API, by the name of the output that is its endpoint
 * @param queueUrl - returns the URL of the queue with that name
 * @throws {StartError} for what the local cloud does not support.
 */
export function resolveTemplate(
  assembly: Assembly,
  apis: ReadonlyMap<string, number>,
  queueUrl: (name: string) => string,
): ResolvedTemplate {
  const apiPorts = assignPorts(assembly, apis);
  const apiEndpoint = (id: string) => `http://127.0.0.1:${apiPorts.get(id)}`;
  const environment = makeEnvironment({ queueUrl, apiEndpoint });
  const resolve = makeResolver(assembly.stacks, environment);
  return {
    resources: liveResources(assembly, resolve),
    outputs: stackOutputs(assembly.stacks, resolve),
    assets: assembly.assets,
    apiPorts,
    attributeOf: ({ stack, logicalId, type, properties }, attribute) => {
      const resource = { Type: type, Properties: properties };
      return environment.attributeOf({ stack, logicalId, resource, attribute, resolve: node => node });
    },
  };
}

/** Resolves the outputs with ids instead of addresses first, which shows which API is which. */
function assignPorts(assembly: Assembly, apis: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const symbolic = makeEnvironment({ queueUrl: name => name, apiEndpoint: id => `api:${id}` });
  const resolve = makeResolver(assembly.stacks, symbolic);
  const outputs = stackOutputs(assembly.stacks, resolve);
  const ports = new Map([...apis].map(([output, port]) => [apiIdIn(outputs, output), port]));
  for (const stack of assembly.stacks) {
    for (const [logicalId, { Type }] of Object.entries(stack.template.Resources)) {
      if (Type === 'AWS::ApiGatewayV2::Api' && !ports.has(String(resolve({ Ref: logicalId }, stack)))) {
        throw new StartError(
          `The HTTP API ${stack.name}/${logicalId} has no port: name the output that is its endpoint.`,
        );
      }
    }
  }
  return ports;
}

function apiIdIn(outputs: Readonly<Record<string, string>>, name: string): string {
  const [, id] = /^api:(\w+)$/.exec(requiredOutput(outputs, name)) ?? [];
  if (id !== undefined) return id;
  throw new StartError(`The output "${name}" must be the endpoint of an HTTP API to run locally.`);
}
