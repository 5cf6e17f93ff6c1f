import { expect, it } from 'vitest';
import type { LiveResource } from '../../../../local/assembly/resources.ts';
import { provisionFunctions } from '../../../../local/deployment/provision.ts';
import type { ResolvedTemplate } from '../../../../local/deployment/resolved-template.ts';

const resource = (logicalId: string, type: LiveResource['type'], properties: object): LiveResource => ({
  stack: 'App-local-Delivery',
  logicalId,
  type,
  properties: { ...properties },
});

const functionResource = (name: string, changes: object = {}) =>
  resource(name, 'AWS::Lambda::Function', {
    FunctionName: name,
    Code: { S3Key: 'asset.zip' },
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    ...changes,
  });

const mapping = (FunctionName: string, MaximumConcurrency: number) =>
  resource(`${FunctionName}${MaximumConcurrency}`, 'AWS::Lambda::EventSourceMapping', {
    EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:events',
    FunctionName,
    ScalingConfig: { MaximumConcurrency },
  });

it('functions have as many processes as their event sources have places, and 16 without any', () => {
  const resources = [
    functionResource('Api'),
    functionResource('Deliver'),
    functionResource('Redeliver'),
    mapping('Deliver', 50),
    mapping('Redeliver', 12),
    mapping('Redeliver', 8),
  ];
  const functions = provisionFunctions(
    { resources, assets: new Map([['asset.zip', '/nowhere']]) } as unknown as ResolvedTemplate,
    {
      runtimeContext: { endpoints: {}, authorityFile: '', bootstrapFile: '', preloadUrl: '' },
      onLine: () => undefined,
    },
  );
  expect([...functions].map(([name, { concurrency }]) => [name, concurrency])).toEqual([
    ['Api', 16],
    ['Deliver', 50],
    ['Redeliver', 20],
  ]);
});
