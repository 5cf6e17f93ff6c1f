import { CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { stageConfiguration } from '../../lib/config.ts';
import { addStage } from '../../lib/stage.ts';
import { authDomain, baseDomain, makeApp, requiredValues } from './templates.ts';

describe('a stage with all options', () => {
  it('passes cdk-nag and CloudFormation validation', () => {
    const app = makeApp({ validated: true });
    const values = {
      ...requiredValues.prod,
      ...authDomain,
      ...baseDomain,
      ...{ protection: true, gradual: true, smokeSchedule: '15m' },
    };
    addStage(app, stageConfiguration('prod', values), 'test');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });
});

describe('a mistake in a template', () => {
  it('is reported by cdk-nag and CloudFormation validation', () => {
    const app = makeApp({ validated: true });
    const stack = new Stack(app, 'Wrong');
    new CfnQueue(stack, 'PlainHttp');
    new CfnResource(stack, 'Misspelt', { type: 'AWS::SQS::Queue', properties: { VisibilityTimeoot: 30 } });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    let message = '';
    try {
      app.synth();
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('AwsSolutions-SQS4');
    expect(message).toContain('VisibilityTimeoot');
  });
});
