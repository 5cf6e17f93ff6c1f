import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Assembly } from '../../../src/local/assembly/assembly.ts';
import { inertTypes, liveResources, ofType, readProperties } from '../../../src/local/assembly/resources.ts';

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

it('resources that run locally have their properties resolved; those of inert types are left out', () => {
  expect(ofType(liveResources(assembly('AWS::SQS::Queue'), asIs), 'AWS::SQS::Queue')).toEqual([
    { stack: 'App-Data', logicalId: 'Thing', type: 'AWS::SQS::Queue', properties: { Size: 1 } },
  ]);
  for (const type of Object.keys(inertTypes)) expect(liveResources(assembly(type), asIs)).toEqual([]);
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
