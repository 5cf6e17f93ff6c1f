import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

// knip, and the suite that installs the publisher, find what a package imports and does not name.

const read = (file: string) => readFileSync(path.join(import.meta.dirname, '../..', file), 'utf8');
const service = JSON.parse(read('package.json'));
const publisher = JSON.parse(read('packages/publisher/package.json'));

it('the cloud pins what the service pins, so that there is one version of each', () => {
  const { dependencies, devDependencies } = JSON.parse(read('packages/cloud/package.json'));
  const own = { ...service.dependencies, ...service.devDependencies };
  const shared = Object.entries({ ...dependencies, ...devDependencies }).filter(([dependency]) => dependency in own);
  expect(shared.length).toBeGreaterThan(0);
  expect(shared).toEqual(shared.map(([dependency]) => [dependency, own[dependency]]));
});

it('the publisher depends on the client of SQS alone', () => {
  const { dependencies, peerDependencies, optionalDependencies } = publisher;
  const all = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
  expect(all).toEqual(['@aws-sdk/client-sqs']);
});

it('the publisher has the version of the product', () => {
  expect(publisher.version).toBe(service.version);
});
