import { StartError } from '../errors.ts';
import type { Resource, Stack } from './assembly.ts';

/** The attribute of a resource. `attribute` is `Ref` or the name in `Fn::GetAtt`. */
export interface AttributeQuery {
  readonly stack: string;
  readonly logicalId: string;
  readonly resource: Resource;
  readonly attribute: string;
  /** Resolves a property of that resource. */
  readonly resolve: (node: unknown) => unknown;
}

/** The values that templates refer to and do not contain: names, ARNs and addresses of this run. */
export interface Environment {
  readonly region: string;
  readonly account: string;
  attributeOf(query: AttributeQuery): string;
}

/** Resolves intrinsic functions within a stack; everything else is returned as it is. */
export type Resolve = (node: unknown, stack: Stack) => unknown;

/**
 * Makes the resolver of the intrinsic functions that the CDK puts into templates, across stacks (`Fn::ImportValue`).
 *
 * Resolving throws a {@link StartError} that names the stack for an intrinsic it does not know and for references to nothing.
 */
export function makeResolver(stacks: readonly Stack[], environment: Environment): Resolve {
  const pseudoParameters = (stack: Stack): Record<string, unknown> => ({
    'AWS::Region': environment.region,
    'AWS::AccountId': environment.account,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    'AWS::StackName': stack.name,
    'AWS::StackId': `arn:aws:cloudformation:${environment.region}:${environment.account}:stack/${stack.name}/local`,
    'AWS::NotificationARNs': [],
    'AWS::NoValue': noValue,
  });

  const attribute = (stack: Stack, logicalId: string, name: string): string => {
    const resource = stack.template.Resources[logicalId];
    if (!resource) throw new StartError(`${stack.name} refers to "${logicalId}", which it does not have.`);
    const resolveIn = (node: unknown) => resolve(node, stack);
    return environment.attributeOf({ stack: stack.name, logicalId, resource, attribute: name, resolve: resolveIn });
  };

  const reference = (stack: Stack, name: string): unknown => {
    const pseudo = pseudoParameters(stack);
    if (name in pseudo) return pseudo[name];
    const parameter = stack.template.Parameters[name];
    if (!parameter) return attribute(stack, name, 'Ref');
    const value = parameter.Type.startsWith('AWS::SSM::') ? storedValue(parameter.Default) : parameter.Default;
    if (value === undefined) throw new StartError(`${stack.name} has a parameter without a value of its own: ${name}.`);
    return value;
  };

  /** Returns the value of a parameter of Parameter Store that one of the stacks makes. */
  const storedValue = (name: unknown): unknown =>
    stacks
      .flatMap(({ template }) => Object.values(template.Resources))
      .find(({ Type, Properties }) => Type === 'AWS::SSM::Parameter' && Properties.Name === name)?.Properties.Value;

  const list = (node: unknown, stack: Stack, intrinsic: string): Arguments => {
    const resolved = resolve(node, stack);
    if (Array.isArray(resolved)) return resolved;
    throw new StartError(`${stack.name}: ${intrinsic} needs a list.`);
  };

  const substitute = (argument: unknown, stack: Stack): string => {
    const [text, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return String(text).replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (Object.hasOwn(variables, name)) return String(resolve(variables[name], stack));
      const dot = name.indexOf('.');
      return String(dot < 0 ? reference(stack, name) : attribute(stack, name.slice(0, dot), name.slice(dot + 1)));
    });
  };

  const importValue = (exportName: unknown): unknown => {
    for (const stack of stacks) {
      for (const { Value, Export } of Object.values(stack.template.Outputs)) {
        if (Export && resolve(Export.Name, stack) === exportName) return resolve(Value, stack);
      }
    }
    throw new StartError(`No stack exports "${String(exportName)}".`);
  };

  const intrinsics: Record<string, (argument: unknown, stack: Stack) => unknown> = {
    Ref: (argument, stack) => reference(stack, String(argument)),
    'Fn::GetAtt': (argument, stack) => {
      const [logicalId = '', ...name] = Array.isArray(argument) ? argument : String(argument).split('.');
      return attribute(stack, String(logicalId), name.map(part => String(resolve(part, stack))).join('.'));
    },
    'Fn::Join': (argument, stack) => {
      const [separator, parts] = list(argument, stack, 'Fn::Join');
      return list(parts, stack, 'Fn::Join').join(String(separator));
    },
    'Fn::Split': (argument, stack) => {
      const [separator, text] = list(argument, stack, 'Fn::Split');
      return String(text).split(String(separator));
    },
    'Fn::Select': (argument, stack) => {
      const [index, items] = list(argument, stack, 'Fn::Select');
      return list(items, stack, 'Fn::Select')[Number(index)];
    },
    'Fn::Sub': substitute,
    'Fn::ImportValue': (argument, stack) => importValue(resolve(argument, stack)),
  };

  const resolve: Resolve = (node, stack) => {
    if (Array.isArray(node)) return node.map(item => resolve(item, stack)).filter(item => item !== noValue);
    if (node === null || typeof node !== 'object') return node;
    const entries = Object.entries(node);
    const [only] = entries;
    if (only && entries.length === 1) {
      const [name, argument] = only;
      const intrinsic = intrinsics[name];
      if (intrinsic) return intrinsic(argument, stack);
      if (name.startsWith('Fn::'))
        throw new StartError(`${stack.name} uses ${name}, which the local cloud does not know.`);
    }
    return Object.fromEntries(
      entries.map(([key, value]) => [key, resolve(value, stack)] as const).filter(([, value]) => value !== noValue),
    );
  };
  return resolve;
}

/** `AWS::NoValue`: the property or item is left out. */
const noValue = Symbol('AWS::NoValue');

type Arguments = readonly unknown[];
