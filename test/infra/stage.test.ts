import { describe, expect, it } from 'vitest';
import { authDomain, resourcesOf, stacksOf, stageTemplates } from './templates.ts';

describe('the stacks of a stage', () => {
  it('name the account and Region of its file, so that the CDK refuses to deploy them elsewhere', () => {
    for (const { environment } of stacksOf('prod')) expect(environment).toBe('aws://111122223333/sa-east-1');
    for (const { environment } of stacksOf('dev')) expect(environment).toBe('aws://unknown-account/unknown-region');
  });

  it.each([
    [true, { protection: true }],
    [false, {}],
  ])(
    'have termination protection: %s; but not that of smoke tests, which may fail at first and holds nothing',
    (expected, overrides) => {
      for (const stack of stacksOf('prod', overrides)) {
        const isSmoke = stack.stackName === 'Emissor-prod-Smoke';
        expect(stack.terminationProtection, stack.stackName).toBe(expected && !isSmoke);
      }
    },
  );

  it('carry the tags of their file, and of their service and stage', () => {
    const own = { owner: 'Plataforma', 'cost-center': 'CC-42' };
    const tags = { ...own, service: 'emissor', stage: 'prod' };
    for (const stack of stacksOf('prod', { tags: own })) {
      expect(stack.tags.tagValues()).toEqual(tags);
    }
    // CloudFormation gives a global table none of its stack's.
    const templates = stageTemplates('prod', { tags: own });
    const tables = resourcesOf(templates, 'AWS::DynamoDB::GlobalTable');
    expect(tables.length).toBeGreaterThan(5);
    for (const [, { Properties }] of tables) {
      const found = Properties.Replicas[0].Tags.map(({ Key, Value }: { Key: string; Value: string }) => [Key, Value]);
      expect(Object.fromEntries(found)).toEqual(tags);
    }
  });
});

describe('two stages in one account', () => {
  /** Returns the names that would collide: exports, and those that resources are given. CloudFormation makes all others. */
  const namesOf = (stage: string): string[] => {
    const templates = stageTemplates(stage, { smokeSchedule: '15m' });
    const named = (type: string, property: string) =>
      resourcesOf(templates, type)
        .map(([, { Properties }]) => Properties[property])
        .filter(name => name !== undefined)
        .map(name => JSON.stringify(name));
    const exported = Object.values(templates).flatMap(template =>
      Object.values((template.toJSON().Outputs ?? {}) as Record<string, { Export?: { Name: string } }>),
    );
    return [
      ...named('AWS::ApiGatewayV2::Api', 'Name'),
      ...named('AWS::Logs::LogGroup', 'LogGroupName'),
      ...named('AWS::Logs::QueryDefinition', 'Name'),
      ...exported.flatMap(({ Export }) => (Export ? [Export.Name] : [])),
    ];
  };

  it('share no name', () => {
    const names = [...namesOf('prod'), ...namesOf('dev')];
    expect(names.length).toBeGreaterThan(50);
    expect(new Set(names).size).toBe(names.length);
  });

  it('count under different namespaces', () => {
    const namespaces = ['prod', 'dev'].flatMap(stage => {
      const text = JSON.stringify(Object.values(stageTemplates(stage)).map(template => template.toJSON()));
      return [
        ...new Set(
          [...text.matchAll(/"(?:Namespace|POWERTOOLS_METRICS_NAMESPACE)":"(Emissor[^"]*)"/g)].map(([, name]) => name),
        ),
      ];
    });
    expect(namespaces).toEqual(['Emissor/prod', 'Emissor/dev']);
  });
});

describe('the topics of pages and of tickets', () => {
  it('tell every recipient of the stage', () => {
    const { Data } = stageTemplates('prod', { alarmRecipients: ['ops@emissor.com.br', 'plantao@emissor.com.br'] });
    const endpoints = resourcesOf(Data, 'AWS::SNS::Subscription').map(([, { Properties }]) => Properties.Endpoint);
    expect(endpoints).toEqual([
      'ops@emissor.com.br',
      'plantao@emissor.com.br',
      'ops@emissor.com.br',
      'plantao@emissor.com.br',
    ]);
  });
});

describe('a domain', () => {
  it('has what its DNS record must point at as outputs', () => {
    const { Data } = stageTemplates('prod', authDomain);
    const { Outputs } = Data.toJSON();
    expect(Outputs.AuthDomainTarget.Value).toEqual({ 'Fn::GetAtt': [expect.any(String), 'RegionalDomainName'] });
    expect(Outputs.AuthDomainHostedZoneId.Value).toEqual({
      'Fn::GetAtt': [expect.any(String), 'RegionalHostedZoneId'],
    });
    expect(Outputs).not.toHaveProperty('BaseDomainTarget');
  });
});
