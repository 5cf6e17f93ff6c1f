import { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { stageConfiguration } from '../../lib/config.ts';
import { addStage } from '../../lib/stage.ts';
import { makeApp, required, resourcesOf, stageTemplates } from './templates.ts';

const stacksOf = (name: string, overrides: Record<string, unknown> = {}) => {
  const app = makeApp();
  addStage(app, stageConfiguration(name, { ...required[name], ...overrides }));
  return app.node.children.filter(child => child instanceof Stack);
};

describe('the stacks of a stage', () => {
  it('name the account and Region of its file, so that the CDK refuses to deploy them elsewhere', () => {
    for (const { environment } of stacksOf('prod')) expect(environment).toBe('aws://111122223333/sa-east-1');
    for (const { environment } of stacksOf('dev')) expect(environment).toBe('aws://unknown-account/unknown-region');
  });

  it.each([
    [true, { protection: true }],
    [false, {}],
  ])('have termination protection: %s', (expected, overrides) => {
    for (const stack of stacksOf('prod', overrides))
      expect(stack.terminationProtection, stack.stackName).toBe(expected);
  });

  it('carry the tags of their owner and cost center', () => {
    for (const stack of stacksOf('prod', { owner: 'Plataforma', costCenter: 'CC-42' })) {
      expect(stack.tags.tagValues()).toMatchObject({ stage: 'prod', owner: 'Plataforma', 'cost-center': 'CC-42' });
    }
  });
});

describe('the operations topic', () => {
  it('tells every recipient of the stage', () => {
    const { Data } = stageTemplates('prod', { alarmRecipients: ['ops@emissor.com.br', 'plantao@emissor.com.br'] });
    const endpoints = resourcesOf(Data, 'AWS::SNS::Subscription').map(([, { Properties }]) => Properties.Endpoint);
    expect(endpoints).toEqual(['ops@emissor.com.br', 'plantao@emissor.com.br']);
  });
});

describe('a domain', () => {
  it('has what its DNS record must point at as outputs', () => {
    const certificate = 'arn:aws:acm:sa-east-1:111122223333:certificate/a';
    const { Data } = stageTemplates('prod', { authDomain: 'auth.emissor.com.br', authCertificateArn: certificate });
    const { Outputs } = Data.toJSON();
    expect(Outputs.AuthDomainTarget.Value).toEqual({ 'Fn::GetAtt': [expect.any(String), 'RegionalDomainName'] });
    expect(Outputs.AuthDomainHostedZoneId.Value).toEqual({
      'Fn::GetAtt': [expect.any(String), 'RegionalHostedZoneId'],
    });
    expect(Outputs).not.toHaveProperty('BaseDomainTarget');
  });
});
