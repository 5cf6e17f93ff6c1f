import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './attribute-values.ts';
import { validationError } from './errors.ts';
import type { Path } from './syntax.ts';

/** Returns the value at a path, whose names are resolved; `undefined` where there is none. */
export function valueAt(item: Attributes, [name, ...steps]: Path): AttributeValue | undefined {
  let value = item[String(name)];
  for (const step of steps) value = typeof step === 'number' ? value?.L?.[step] : value?.M?.[step];
  return value;
}

/** Returns the parts of an item at some paths. The elements of a list that are asked for stand one after the other. */
export function project(item: Attributes, paths: readonly Path[]): Attributes {
  const tree = treeOf(paths);
  return projectMap(item, tree);
}

/** @throws ValidationException where two paths lead to the same value, or one to a part of the other's. */
export function checkOverlaps(paths: readonly Path[], kind: string): void {
  const [first, ...others] = paths;
  if (!first || others.length === 0) return;
  const sorted = paths.map(path => JSON.stringify(path).slice(0, -1)).sort();
  const clash = sorted.find((path, at) => {
    const next = sorted[at + 1];
    return next !== undefined && (next === path || next.startsWith(`${path},`));
  });
  if (clash === undefined) return;
  throw validationError(
    `Invalid ${kind}: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${clash}]`,
  );
}

/** The steps that paths have in common, once each. */
type Tree = Map<string | number, Tree>;

function treeOf(paths: readonly Path[]): Tree {
  const root: Tree = new Map();
  for (const path of paths) {
    let branch = root;
    for (const step of path) {
      const next: Tree = branch.get(step) ?? new Map();
      branch.set(step, next);
      branch = next;
    }
  }
  return root;
}

function projectMap(map: Attributes, tree: Tree): Record<string, AttributeValue> {
  const projected: Record<string, AttributeValue> = {};
  for (const [step, branch] of tree) {
    const value = typeof step === 'string' ? map[step] : undefined;
    const part = value && projectValue(value, branch);
    if (part) projected[String(step)] = part;
  }
  return projected;
}

function projectValue(value: AttributeValue, tree: Tree): AttributeValue | undefined {
  if (tree.size === 0) return value;
  if (value.M !== undefined) {
    const M = projectMap(value.M, tree);
    return Object.keys(M).length > 0 ? { M } : undefined;
  }
  const places = [...tree.keys()].filter(step => typeof step === 'number').sort((one, other) => one - other);
  const L = places.flatMap(place => {
    const element = value.L?.[place];
    return (element && projectValue(element, tree.get(place) ?? new Map())) ?? [];
  });
  return L.length > 0 ? { L } : undefined;
}
