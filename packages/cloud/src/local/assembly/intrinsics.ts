import { StartError } from '../errors.ts';
import type { Stack } from './assembly.ts';
import { type Addresses, account, attributeOf, physicalName, region } from './identities.ts';

/** Resolves intrinsic functions within a stack. Returns other values unchanged. */
export type Resolve = (node: unknown, stack: Stack) => unknown;

/**
 * Creates a resolver for the intrinsic functions in the app's templates. It resolves references between stacks.
 *
 * The resolver throws a {@link StartError} for an unknown intrinsic function or a reference without a target.
 */
export function makeResolver(stacks: readonly Stack[], addresses: Addresses): Resolve {
  const intrinsics: Readonly<Record<string, (argument: unknown, stack: Stack) => unknown>> = {
    Ref: (argument, stack) => reference(stack, String(argument)),
    'Fn::GetAtt': (argument, stack) => {
      const [logicalId, name] = listOf(argument);
      return attribute(stack, String(logicalId), String(name));
    },
    'Fn::Join': (argument, stack) => {
      const [separator, parts] = listOf(argument);
      return listOf(resolve(parts, stack)).join(String(separator));
    },
    'Fn::Split': (argument, stack) => {
      const [separator, text] = listOf(argument);
      return String(resolve(text, stack)).split(String(separator));
    },
    'Fn::Select': (argument, stack) => {
      const [index, items] = listOf(argument);
      return listOf(resolve(items, stack))[Number(index)];
    },
    'Fn::Sub': (argument, stack) =>
      String(argument).replace(/\$\{([\w:]+)\}/g, (_, name: string) => String(reference(stack, name))),
    'Fn::ImportValue': argument => imported(argument),
  };
  return resolve;

  function resolve(node: unknown, stack: Stack): unknown {
    if (Array.isArray(node)) return node.map(item => resolve(item, stack));
    if (node === null || typeof node !== 'object') return node;
    const entries = Object.entries(node);
    const [[name, argument] = ['', undefined]] = entries;
    const intrinsic = intrinsics[name];
    if (intrinsic && entries.length === 1) return intrinsic(argument, stack);
    if (name.startsWith('Fn::'))
      throw new StartError(`${stack.name} uses ${name}, which the local cloud does not support.`);
    return Object.fromEntries(entries.map(([key, value]) => [key, resolve(value, stack)]));
  }

  function reference(stack: Stack, name: string): unknown {
    const pseudo = pseudoParameter(name, stack);
    if (pseudo !== undefined) return pseudo;
    const parameter = stack.template.Parameters?.[name];
    if (!parameter) return attribute(stack, name, 'Ref');
    const value = storedValue(parameter.Default);
    if (value === undefined) throw new StartError(`${stack.name} has a parameter without a value: ${name}.`);
    return value;
  }

  function attribute(stack: Stack, logicalId: string, name: string): string {
    const resource = stack.template.Resources[logicalId];
    if (!resource) throw new StartError(`${stack.name} refers to "${logicalId}", which does not exist.`);
    const owner = { name: physicalName(stack.name, logicalId), resource };
    return attributeOf({ ...owner, attribute: name, resolve: node => resolve(node, stack) }, addresses);
  }

  /** Returns the value of a Parameter Store parameter that one of the stacks creates. */
  function storedValue(name: unknown): unknown {
    const resources = stacks.flatMap(({ template }) => Object.values(template.Resources));
    return resources.find(({ Type, Properties }) => Type === 'AWS::SSM::Parameter' && Properties?.Name === name)
      ?.Properties?.Value;
  }

  function imported(exportName: unknown): unknown {
    for (const stack of stacks) {
      for (const { Value, Export } of Object.values(stack.template.Outputs ?? {})) {
        if (Export?.Name === exportName) return resolve(Value, stack);
      }
    }
    throw new StartError(`No stack exports "${String(exportName)}".`);
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new StartError(`An intrinsic function needs a list, not ${JSON.stringify(value)}.`);
}

function pseudoParameter(name: string, stack: Stack): string | undefined {
  const values: Readonly<Record<string, string>> = {
    'AWS::AccountId': account,
    'AWS::Partition': 'aws',
    'AWS::Region': region,
    'AWS::StackId': `arn:aws:cloudformation:${region}:${account}:stack/${stack.name}/local`,
    'AWS::URLSuffix': 'amazonaws.com',
  };
  return values[name];
}
