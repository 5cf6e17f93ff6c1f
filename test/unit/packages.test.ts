import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

// knip and the suite that installs the publisher detect imports of undeclared dependencies.

const read = (file: string) => readFileSync(path.join(import.meta.dirname, '../..', file), 'utf8');
const service = JSON.parse(read('package.json'));
const publisher = JSON.parse(read('packages/publisher/package.json'));

it('@emissor/cloud pins the same dependency versions as the service', () => {
  const { dependencies, devDependencies } = JSON.parse(read('packages/cloud/package.json'));
  const own = { ...service.dependencies, ...service.devDependencies };
  const shared = Object.entries({ ...dependencies, ...devDependencies }).filter(([dependency]) => dependency in own);
  expect(shared.length).toBeGreaterThan(0);
  expect(shared).toEqual(shared.map(([dependency]) => [dependency, own[dependency]]));
});

it('the publisher depends only on the SQS client', () => {
  const { dependencies, peerDependencies, optionalDependencies } = publisher;
  const all = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
  expect(all).toEqual(['@aws-sdk/client-sqs']);
});

it('the publisher has the same version as the service', () => {
  expect(publisher.version).toBe(service.version);
});
