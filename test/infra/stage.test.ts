import { describe, expect, it } from 'vitest';
import { hasSmokeStack, stageConfiguration } from '../../lib/config.ts';
import { authDomain, requiredValues, resolveIntrinsics, stacksOf, stageTemplates } from './templates.ts';

// The file of a stage determines its stacks, their Region and their protection.

const smokeReceiverUrl = 'https://smoke.emissor.com.br/hook';

describe('the stacks of a stage', () => {
  it('have the account and Region of the file, so that the CDK deploys them only there', () => {
    for (const { environment } of stacksOf('prod')) expect(environment).toBe('aws://111122223333/sa-east-1');
    for (const { environment } of stacksOf('dev')) expect(environment).toBe('aws://unknown-account/unknown-region');
  });

  it.each([
    [true, { protection: true }],
    [false, {}],
  ])('have tags and termination protection %s, except the smoke stack, which has no protection', (expected, of) => {
    for (const stack of stacksOf('prod', { ...of, tags: { owner: 'Plataforma' } })) {
      expect(stack.terminationProtection).toBe(expected && stack.stackName !== 'Emissor-prod-Smoke');
      expect(stack.tags.tagValues()).toEqual({ owner: 'Plataforma', service: 'emissor', stage: 'prod' });
    }
  });

  it.each([
    ['prod', {}, true],
    ['prod', { smokeReceiverUrl, smokeSchedule: undefined }, false],
    ['prod', { smokeReceiverUrl, smokeSchedule: '1h' }, true],
    ['local', {}, false],
  ])('of %s with %j include a smoke stack: %s', (stage, overrides, expected) => {
    expect(stacksOf(stage, overrides).some(({ node }) => node.id === `Emissor-${stage}-Smoke`)).toBe(expected);
    expect(hasSmokeStack(stageConfiguration(stage, { ...requiredValues[stage], ...overrides }))).toBe(expected);
  });

  it('still export the values that the smoke stack imports after the schedule is removed', () => {
    const [before, after] = [stageTemplates('prod'), stageTemplates('prod', { smokeSchedule: undefined })];
    const imports = JSON.stringify(before.Smoke.toJSON()).match(/(?<="Fn::ImportValue":")[^"]+/g) ?? [];
    const exports = [after.Data, after.Delivery].flatMap(template =>
      Object.values<{ Export?: { Name: string } }>(template.toJSON().Outputs).map(({ Export }) => Export?.Name),
    );
    expect(imports.filter(name => name.includes('EventsQueue'))).not.toEqual([]);
    expect(exports).toEqual(expect.arrayContaining(imports));
  });
});

it('the outputs contain the URLs, the target for a DNS record and the parameter for smoke tests', () => {
  const outputsOf = (stage: 'prod' | 'local', overrides = {}) => {
    const outputs = Object.entries<{ Value: unknown }>(stageTemplates(stage, overrides).Data.toJSON().Outputs);
    return Object.fromEntries(outputs.map(([name, { Value }]) => [name, resolveIntrinsics(Value)]));
  };
  const prod = outputsOf('prod', authDomain);
  expect(prod).toMatchObject({
    AuthUrl: 'https://auth.emissor.com.br',
    BaseUrl: 'BaseEndpointApi.ApiEndpoint',
    AuthDomainTarget: 'AuthEndpointDomain.RegionalDomainName',
    AuthDomainHostedZoneId: 'AuthEndpointDomain.RegionalHostedZoneId',
    SmokeCredentialsParameter: '/emissor/prod/smoke/1 of Key.Arn by //credentials',
    PagesTopicArn: 'AlarmTopicsPages',
    TicketsTopicArn: 'AlarmTopicsTickets',
  });
  expect(prod).not.toHaveProperty('BaseDomainTarget');
  expect(outputsOf('local')).not.toHaveProperty('SmokeCredentialsParameter');
});
