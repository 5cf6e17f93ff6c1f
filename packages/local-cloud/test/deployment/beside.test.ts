import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Assembly, readAssembly } from '../../src/assembly/assembly.ts';
import { makeEnvironment } from '../../src/assembly/identities.ts';
import { functionsBeside } from '../../src/deployment/beside.ts';
import { writeAssembly } from '../fixture-assembly.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const folder = temporaryDirectory();

/** An assembly in a directory of its own; `change` edits the files' texts. */
const assemblyOf = (name: string, resources?: Record<string, object>, change?: (text: string) => string): Assembly => {
  writeAssembly(join(folder, name), resources, change);
  return readAssembly(join(folder, name));
};

const environment = makeEnvironment({
  queueUrl: name => `http://127.0.0.1:1/${name}`,
  apiEndpoint: () => 'http://127.0.0.1:2',
});

/** The function's only variable leads to something else than in this release. */
const issuerFrom = (value: object) => (text: string) =>
  text.replace('{"Fn::ImportValue":"App-local-Data:Url"}', JSON.stringify(value));

it('are those that both have: the bundle and variables of the other release, the resources of this one', () => {
  const other = assemblyOf('other', {}, issuerFrom({ 'Fn::Join': ['', ['old ', { Ref: 'Events' }]] }));
  const [[name, definition] = []] = [...functionsBeside(other, assemblyOf('own'), environment)];
  expect(name).toBe('App-local-Auth-Token1A2B3C4D');
  expect(definition).toMatchObject({
    name,
    label: 'auth/token beside',
    directory: join(folder, 'other/asset.token'),
    variables: { ISSUER: 'old http://127.0.0.1:1/App-local-Auth-Events' },
  });
});

it('may use only what this release has', () => {
  const gone = { Gone: { Type: 'AWS::SQS::Queue', Properties: {} } };
  const own = assemblyOf('plain');
  expect(functionsBeside(assemblyOf('unused', gone), own, environment).size).toBe(1);
  const exported = (text: string) =>
    text.replace(
      '"ExportsUrl":{"Value":{"Fn::GetAtt":["AuthApi","ApiEndpoint"]}',
      '"ExportsUrl":{"Value":{"Ref":"Gone"}',
    );
  const message =
    'App-local-Auth/Token1A2B3C4D of the other release uses App-local-Data/Gone (AWS::SQS::Queue), which this release does not have.';
  expect(() => functionsBeside(assemblyOf('used', gone, exported), own, environment)).toThrow(message);
  const topic = assemblyOf('topic', { Gone: { Type: 'AWS::SNS::Topic', Properties: {} } });
  expect(() => functionsBeside(assemblyOf('used', gone, exported), topic, environment)).toThrow(message);
});

it('must be some', () => {
  const dev = assemblyOf('dev', {}, text => text.replaceAll('App-local', 'App-dev'));
  expect(() => functionsBeside(dev, assemblyOf('own'), environment)).toThrow('no function that this release has');
});
