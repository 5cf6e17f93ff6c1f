import { CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { contextConfiguration, stageConfiguration } from '../../lib/config.ts';
import { addStage } from '../../lib/stage.ts';
import { ConfigurationError } from '../../lib/stage-files.ts';
import { makeApp, required } from './templates.ts';

describe('a stage with everything switched on', () => {
  it('passes cdk-nag and CloudFormation validation', () => {
    const app = makeApp({ validated: true });
    const certificate = 'arn:aws:acm:sa-east-1:111122223333:certificate/a';
    const values = {
      ...required.prod,
      ...{ authDomain: 'auth.emissor.com.br', authCertificateArn: certificate },
      ...{ baseDomain: 'api.emissor.com.br', baseCertificateArn: certificate },
      ...{ protection: true, gradual: true, encryption: 'customer-managed', smokeSchedule: '15m' },
    };
    addStage(app, stageConfiguration('prod', values));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });
});

describe('a mistake', () => {
  it.each([
    ['an unknown stage', { stage: 'no-such-stage' }, /^Unknown stage "no-such-stage": the stages are .*prod/],
    ['a file that is not filled in', { stage: 'prod' }, /^Stage prod: stages\/prod\.ts must give account/],
    ['a duration out of bounds', { accessTokenLifetime: '999999999d' }, /accessTokenLifetime must be 1s to 24h/],
    ['a value that does not fit', { retrySchedule: 'soon' }, /retrySchedule must be a whole number with a unit/],
  ])('in the context, %s, is one clear line', (_case, context, message) => {
    const attempt = () => contextConfiguration({ ...makeApp().node.getAllContext(), ...context });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/\n/);
  });

  it.each([
    ['cdk-nag', (stack: Stack) => new CfnQueue(stack, 'PlainHttp'), /AwsSolutions-SQS4/],
    [
      'CloudFormation validation',
      (stack: Stack) =>
        new CfnResource(stack, 'Misspelt', { type: 'AWS::SQS::Queue', properties: { VisibilityTimeoot: 30 } }),
      /VisibilityTimeoot/,
    ],
  ])('in a template is an error of %s', (_check, add, message) => {
    const app = makeApp({ validated: true });
    add(new Stack(app, 'Wrong'));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).toThrow(message);
  });
});
