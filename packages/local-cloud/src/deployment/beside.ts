import type { Assembly } from '../assembly/assembly.ts';
import { type Environment, makeResolver } from '../assembly/intrinsics.ts';
import { inertTypes } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';
import { type FunctionDefinition, functionOf } from '../lambda/definition.ts';

/**
 * The functions of another release that this one has too, by name: with that release's bundles, and with the environment of
 * its template, resolved against the resources of this run.
 *
 * @param own - the assembly that this run is made of
 * @param environment - the names, ARNs and addresses of this run
 * @throws {StartError} when one of them uses a resource that this run does not have, or when there are none.
 */
export function functionsBeside(
  other: Assembly,
  own: Assembly,
  environment: Environment,
): ReadonlyMap<string, FunctionDefinition> {
  const definitions = other.stacks.flatMap(stack =>
    Object.entries(stack.template.Resources).flatMap(([logicalId, { Type, Properties }]) => {
      if (Type !== functionType || !has(own, stack.name, logicalId, functionType)) return [];
      const resolve = makeResolver(other.stacks, onlyOf(own, environment, `${stack.name}/${logicalId}`));
      const properties = resolve(Properties, stack) as Record<string, unknown>;
      const definition = functionOf({ stack: stack.name, logicalId, type: functionType, properties }, other.assets);
      return [{ ...definition, label: `${definition.label} beside` }];
    }),
  );
  if (definitions.length === 0) {
    throw new StartError('that assembly has no function that this release has', 'beside-unrelated');
  }
  return new Map(definitions.map(definition => [definition.name, definition]));
}

const functionType = 'AWS::Lambda::Function';

/** Returns an environment that refuses resources that an assembly does not have. Those of inert types have no existence of their own. */
function onlyOf(own: Assembly, environment: Environment, user: string): Environment {
  return {
    ...environment,
    attributeOf: query => {
      const { stack, logicalId, resource } = query;
      if (!(resource.Type in inertTypes) && !has(own, stack, logicalId, resource.Type)) {
        throw new StartError(
          `${user} of the other release uses ${stack}/${logicalId} (${resource.Type}), which this release does not have. A release must keep what the one before it uses.`,
          'beside-unfit',
        );
      }
      return environment.attributeOf(query);
    },
  };
}

function has({ stacks }: Assembly, stack: string, logicalId: string, type: string): boolean {
  return stacks.find(({ name }) => name === stack)?.template.Resources[logicalId]?.Type === type;
}
