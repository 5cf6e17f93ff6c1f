import { describe, expect, it } from 'vitest';
import { authDomain, resourcesOf, stageTemplates } from './templates.ts';

const { Data, Auth, Webhooks, Delivery } = stageTemplates('prod');
const routes = (template: typeof Auth) =>
  resourcesOf(template, 'AWS::ApiGatewayV2::Route').map(([, route]) => route.Properties.RouteKey);

describe('the endpoints', () => {
  // API Gateway refuses a route with another name for the variable of a level (409, "conflicting variable").
  it('name the variable of a level of their paths alike in every route, and are not greedy', () => {
    for (const templates of [[Auth], [Webhooks, Delivery]]) {
      const names = new Map<string, string>();
      for (const path of templates.flatMap(routes).flatMap((key: string) => key.split(' ')[1] ?? [])) {
        const segments = path.split('/');
        for (const [at, segment] of segments.entries()) {
          if (!segment.startsWith('{')) continue;
          expect(segment, path).not.toContain('+');
          const level = segments
            .slice(0, at)
            .join('/')
            .replace(/{[^}]*}/g, '{}');
          expect(segment, path).toBe(names.get(level) ?? segment);
          names.set(level, segment);
        }
      }
    }
  });

  it('use payload format 2.0, which keeps the bytes of forms', () => {
    for (const template of [Auth, Webhooks, Delivery]) {
      for (const [id, integration] of resourcesOf(template, 'AWS::ApiGatewayV2::Integration')) {
        expect(integration.Properties.PayloadFormatVersion, id).toBe('2.0');
      }
    }
  });

  it('write access logs that name no header and no query', () => {
    const stages = resourcesOf(stageTemplates('prod'), 'AWS::ApiGatewayV2::Stage');
    expect(stages).toHaveLength(2);
    for (const [, { Properties }] of stages) {
      expect(Properties.AccessLogSettings.DestinationArn).toBeDefined();
      expect(JSON.stringify(Properties.AccessLogSettings.Format)).not.toMatch(/header|querystring|authorizer/i);
    }
  });

  // The account's policy for groups with other names has room for few. The stack's id tells it from one that an earlier stack left.
  it('write their access logs to groups that AWS services may write to, of this stack alone', () => {
    const groups = resourcesOf(Data, 'AWS::Logs::LogGroup')
      .filter(([id]) => !id.startsWith('AuditLogs'))
      .map(([, { Properties }]) => Properties.LogGroupName['Fn::Join']);
    const uuid = { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] };
    const suffix = { 'Fn::Select': [0, { 'Fn::Split': ['-', uuid] }] };
    expect(groups).toEqual([
      ['', ['/aws/vendedlogs/emissor/prod/auth-', suffix]],
      ['', ['/aws/vendedlogs/emissor/prod/webhooks-', suffix]],
    ]);
  });

  it('are named after the stage, by which an operator tells them apart', () => {
    const names = (stage: string) =>
      resourcesOf(stageTemplates(stage).Data, 'AWS::ApiGatewayV2::Api').map(([, { Properties }]) => Properties.Name);
    expect(names('prod')).toEqual(['Emissor prod auth', 'Emissor prod webhooks']);
    expect(names('dev')).toEqual(['Emissor dev auth', 'Emissor dev webhooks']);
  });

  describe('with a custom domain', () => {
    const { Data, Auth, Webhooks, Delivery } = stageTemplates('prod', authDomain);
    const own = 'https://auth.emissor.com.br';
    const environments = [Auth, Webhooks, Delivery]
      .flatMap(template => resourcesOf(template, 'AWS::Lambda::Function'))
      .map(([, { Properties }]) => Properties.Environment?.Variables ?? {});

    it('answer at the gateway’s host too', () => {
      Data.hasResourceProperties('AWS::ApiGatewayV2::DomainName', { DomainName: 'auth.emissor.com.br' });
      const apis = resourcesOf(Data, 'AWS::ApiGatewayV2::Api').map(([, { Properties }]) => Properties);
      for (const { DisableExecuteApiEndpoint = false } of apis) expect(DisableExecuteApiEndpoint).toBe(false);
      expect(apis).toHaveLength(2);
    });

    it('are named by it: in the outputs, and to all functions that issue or take tokens', () => {
      const { AuthUrl, BaseUrl } = Data.toJSON().Outputs;
      expect(AuthUrl.Value).toBe(own);
      expect(BaseUrl.Value).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^BaseEndpointApi/), 'ApiEndpoint'] });
      const issuers = environments.flatMap(({ ISSUER }) => (ISSUER ? [ISSUER] : []));
      expect(issuers).toEqual(Array(6).fill(own));
      const audiences = environments.flatMap(({ AUDIENCE }) => (AUDIENCE ? [JSON.stringify(AUDIENCE)] : []));
      expect(audiences).toHaveLength(5);
      for (const audience of audiences) expect(audience).toMatch(/Emissor-prod-Data:\w*BaseEndpoint\w*ApiEndpoint\w*/);
    });
  });
});
