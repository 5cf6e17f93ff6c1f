import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const { version } = JSON.parse(read('package.json'));
const imported = (pattern: string, statement: RegExp) => {
  const files = globSync(pattern, { cwd: root });
  expect(files.length).toBeGreaterThan(5);
  return new Set(files.flatMap(file => [...read(file).matchAll(statement)].map(([, name]) => name)));
};

describe('the TypeScript publisher', () => {
  const manifest = JSON.parse(read('packages/publisher/package.json'));

  it('depends on the SQS client alone', () => {
    const { dependencies, peerDependencies, optionalDependencies } = manifest;
    expect({ ...dependencies, ...peerDependencies, ...optionalDependencies }).toEqual({
      '@aws-sdk/client-sqs': expect.any(String),
    });
    const names = imported('packages/publisher/src/*.ts', /from '([^']+)'/g);
    const others = [...names].filter(name => !name?.startsWith('./') && !name?.startsWith('node:'));
    expect(others).toEqual(['@aws-sdk/client-sqs']);
  });

  it('has the version of the product', () => {
    expect(manifest.version).toBe(version);
  });
});

describe('the Python publisher', () => {
  const project = read('packages/publisher/python/pyproject.toml');

  it('depends on boto3 alone, which brings botocore', () => {
    expect(/^dependencies = (.*)$/m.exec(project)?.[1]).toBe('["boto3>=1.34"]');
    const names = imported('packages/publisher/python/src/**/*.py', /^(?:from|import) (\w+)[\w.]*/gm);
    expect([...names].filter(name => name?.startsWith('boto')).sort()).toEqual(['boto3', 'botocore']);
    const standard = [
      'base64',
      'collections',
      'concurrent',
      'dataclasses',
      'decimal',
      'hashlib',
      'json',
      'random',
      're',
      'threading',
      'typing',
      'urllib',
      'uuid',
    ];
    expect([...names].filter(name => !standard.includes(name ?? '') && !name?.startsWith('boto'))).toEqual([]);
  });

  it('has the version of the product', () => {
    expect(/^version = "(.*)"$/m.exec(project)?.[1]).toBe(version);
  });
});
