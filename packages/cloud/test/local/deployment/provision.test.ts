import { expect, it } from 'vitest';
import { provisionFunctions, runDeploymentTriggers } from '../../../src/local/deployment/provision.ts';
import type { ResolvedTemplate } from '../../../src/local/deployment/resolved-template.ts';
import { liveResource } from '../live-resource.ts';

const functionResource = (FunctionName: string, ReservedConcurrentExecutions?: number) =>
  liveResource('AWS::Lambda::Function', {
    FunctionName,
    Code: { S3Key: 'asset.zip' },
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    ReservedConcurrentExecutions,
  });

const mapping = (FunctionName: string, MaximumConcurrency: number) =>
  liveResource('AWS::Lambda::EventSourceMapping', {
    EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:events',
    FunctionName,
    ScalingConfig: { MaximumConcurrency },
  });

it('functions have as many processes as their event sources process batches at once, 16 by default, none beyond what is reserved', () => {
  const resources = [
    functionResource('Api'),
    functionResource('DeliverFirst'),
    functionResource('DeliverRetry'),
    functionResource('DeliverSlow', 2),
    mapping('DeliverFirst', 50),
    mapping('DeliverRetry', 12),
    mapping('DeliverRetry', 8),
    mapping('DeliverSlow', 50),
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
    ['DeliverFirst', 50],
    ['DeliverRetry', 20],
    ['DeliverSlow', 2],
  ]);
});

it('triggers of the deployment run the function behind a version, and stop the start when it fails', async () => {
  const invoked: string[] = [];
  const functions = new Map(
    ['RotateKeys', 'Broken'].map(name => {
      const error = { errorType: 'Error', errorMessage: 'no keys' };
      const invoke = async () => {
        invoked.push(name);
        return name === 'Broken' ? { outcome: 'failed', error } : { outcome: 'returned', payload: 'null' };
      };
      return [name, { definition: { label: `auth/${name}` }, invoke }];
    }),
  ) as unknown as Parameters<typeof runDeploymentTriggers>[1];
  const run = (HandlerArn: string) => {
    const resources = [liveResource('Custom::Trigger', { HandlerArn })];
    return runDeploymentTriggers({ resources } as unknown as ResolvedTemplate, functions);
  };
  await run('arn:aws:lambda:us-east-1:000000000000:function:RotateKeys:1');
  expect(invoked).toEqual(['RotateKeys']);
  await expect(run('arn:aws:lambda:us-east-1:000000000000:function:Broken:1')).rejects.toThrow(
    "The deployment's trigger auth/Broken failed: no keys",
  );
  await expect(run('x')).rejects.toThrow('App/Thing triggers no function.');
});
