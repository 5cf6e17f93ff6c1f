import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Assembly } from '../../src/assembly/assembly.ts';
import { inertTypes, liveResources, ofType, readProperties } from '../../src/assembly/resources.ts';
import { StartError } from '../../src/errors.ts';

const assembly = (type: string, more: object = {}): Assembly => ({
  assets: new Map(),
  stacks: [
    {
      name: 'App-Data',
      template: { Parameters: {}, Outputs: {}, Resources: { Thing: { Type: type, Properties: { Size: 1 }, ...more } } },
    },
  ],
});
const asIs = (node: unknown) => node;

it('resources that run locally have their properties resolved', () => {
  const resources = liveResources(assembly('AWS::SQS::Queue'), asIs);
  expect(ofType(resources, 'AWS::SQS::Queue')).toEqual([
    { stack: 'App-Data', logicalId: 'Thing', type: 'AWS::SQS::Queue', properties: { Size: 1 } },
  ]);
});

it.each(Object.entries(inertTypes))('%s is inert: %s', (type, reason) => {
  expect(liveResources(assembly(type), asIs)).toEqual([]);
  expect(reason).not.toBe('');
});

it('a type that is not supported stops the start and is named, with the resource', () => {
  const read = () => liveResources(assembly('AWS::S3::Bucket'), asIs);
  expect(read).toThrow(StartError);
  expect(read).toThrow('does not know the resource type AWS::S3::Bucket (App-Data/Thing)');
});

it('a conditional resource stops the start', () => {
  expect(() => liveResources(assembly('AWS::SQS::Queue', { Condition: 'IsProd' }), asIs)).toThrow(
    /does not support conditions/,
  );
});

it('an invalid property is named, with the resource', () => {
  const [resource] = liveResources(assembly('AWS::SQS::Queue'), asIs);
  expect(() => resource && readProperties(z.object({ Size: z.string() }), resource)).toThrow(
    /^App-Data\/Thing \(AWS::SQS::Queue\): Size: /,
  );
});
