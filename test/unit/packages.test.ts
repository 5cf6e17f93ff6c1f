import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '../..');

/** The versions that a package.json pins, by name. */
const pinsOf = (file: string): Record<string, string> => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  return { ...dependencies, ...devDependencies };
};

it.each(['local-cloud', 'virtual-cloud'])(
  '%s pins what the service pins, so that there is one version of each',
  name => {
    const own = pinsOf('package.json');
    const shared = Object.entries(pinsOf(`packages/${name}/package.json`)).filter(([dependency]) => dependency in own);
    expect(shared.length).toBeGreaterThan(0);
    expect(Object.fromEntries(shared)).toEqual(
      Object.fromEntries(shared.map(([dependency]) => [dependency, own[dependency]])),
    );
  },
);
