import { describe, expect, it } from 'vitest';
import { casesOf } from '../support/sample.ts';
import { authDomain, baseDomain, resourcesOf, stageTemplates } from './templates.ts';

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
    const stages = resourcesOf(Data, 'AWS::ApiGatewayV2::Stage');
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

  const together = [
    ['prepared', 'prepared', ['gateway', 'own']],
    ['primary', 'primary', ['own', 'gateway']],
    ['prepared', 'primary', ['gateway', 'gateway']],
    ['primary', 'prepared', ['own', 'own']],
  ] as const;
  it.each(casesOf(together, 3))(
    'at {base_url} name the issuer of the same kind where both domains go together: %s, %s',
    (auth, base, kinds) => {
      const roles = { authDomainRole: auth, baseDomainRole: base };
      const { Webhooks } = stageTemplates('prod', { ...authDomain, ...baseDomain, ...roles });
      const [servers] = resourcesOf(Webhooks, 'AWS::Lambda::Function').flatMap(([, { Properties }]) => {
        const { AUTHORIZATION_SERVERS: value } = Properties.Environment?.Variables ?? {};
        return value ? [JSON.stringify(value)] : [];
      });
      const found = [...(servers ?? '').matchAll(/AuthEndpoint\w*ApiEndpoint|https:\/\/auth\.emissor\.com\.br/g)];
      expect(found.map(([match]) => (match.startsWith('https') ? 'own' : 'gateway'))).toEqual(kinds);
    },
  );

  // Bug: {auth_url} had its domain, and the one that {base_url} began with announced its own end.
  it('tell no function of {base_url} that a domain is left which is yet to come', () => {
    const { Webhooks, Delivery } = stageTemplates('prod', {
      ...{ ...authDomain, authDomainRole: 'primary', formerHostsUntil: '2027-12-01' },
      ...{ ...baseDomain, baseDomainRole: 'prepared' },
    });
    const told = [Webhooks, Delivery]
      .flatMap(template => resourcesOf(template, 'AWS::Lambda::Function'))
      .flatMap(([, { Properties }]) => Properties.Environment?.Variables?.FORMER_HOST ?? []);
    expect(told).toEqual(['', '']);
  });

  const roles = [
    ['primary', '2027-12-01', 'the gateway'],
    ['former', '2027-12-01', 'auth.emissor.com.br'],
    ['prepared', '2027-12-01', undefined], // the day is the other domain's
    ['prepared', undefined, undefined],
    ['only', '2027-12-01', undefined],
  ] as const;
  it.each(casesOf(roles, 2))(
    'tell all functions of {auth_url} which host is left: %s, until %s',
    (role, formerHostsUntil, left) => {
      const { Auth, Webhooks } = stageTemplates('prod', {
        ...{ ...authDomain, authDomainRole: role, formerHostsUntil },
      });
      const told = (template: typeof Auth) =>
        resourcesOf(template, 'AWS::Lambda::Function').flatMap(([, { Properties }]) => {
          const { FORMER_HOST: host, FORMER_HOST_SUNSET: sunset } = Properties.Environment?.Variables ?? {};
          return host === undefined ? [] : [{ host, sunset }];
        });
      const host = left === 'the gateway' ? { 'Fn::Select': [2, expect.anything()] } : (left ?? '');
      const sunset = left === undefined ? '' : 'Wed, 01 Dec 2027 23:59:59 GMT';
      expect(told(Auth)).toEqual(Array(4).fill({ host, sunset }));
      expect(told(Webhooks)).toEqual([{ host: '', sunset: '' }]); // {base_url} has one host
    },
  );

  describe.each([
    ['prepared', { urls: ['gateway', 'own'], isGatewayOff: false }],
    ['former', { urls: ['gateway', 'own'], isGatewayOff: false }],
    ['primary', { urls: ['own', 'gateway'], isGatewayOff: false }],
    ['only', { urls: ['own'], isGatewayOff: true }],
  ] as const)('with a custom domain that is %s', (authDomainRole, { urls, isGatewayOff }) => {
    const { Data, Auth, Webhooks, Delivery } = stageTemplates('prod', {
      ...authDomain,
      authDomainRole,
    });
    const gateway = /Emissor-prod-Data:\w*AuthEndpoint\w*ApiEndpoint\w*/;
    const own = /https:\/\/auth\.emissor\.com\.br/;
    const environments = [Auth, Webhooks, Delivery]
      .flatMap(template => resourcesOf(template, 'AWS::Lambda::Function'))
      .map(([, { Properties }]) => Properties.Environment?.Variables ?? {});

    it('have both, and say which one names them', () => {
      Data.hasResourceProperties('AWS::ApiGatewayV2::DomainName', { DomainName: 'auth.emissor.com.br' });
      const apis = resourcesOf(Data, 'AWS::ApiGatewayV2::Api').map(([, { Properties }]) => Properties);
      expect(apis.map(({ DisableExecuteApiEndpoint }) => DisableExecuteApiEndpoint)).toEqual([isGatewayOff, false]);
      const value = Data.toJSON().Outputs.AuthUrl.Value;
      if (urls[0] === 'own') expect(value).toBe('https://auth.emissor.com.br');
      else expect(value).toMatchObject({ 'Fn::GetAtt': [expect.stringMatching(/^AuthEndpointApi/), 'ApiEndpoint'] });
    });

    it('sign with the one, and accept tokens of all that answer', () => {
      const texts = (name: string) =>
        environments.flatMap(variables => (name in variables ? [JSON.stringify(variables[name])] : []));
      expect(texts('ISSUER')).toHaveLength(1);
      expect(texts('ISSUERS')).toHaveLength(5);
      for (const text of texts('ISSUER')) expect(text).toMatch(urls[0] === 'own' ? own : gateway);
      for (const text of texts('ISSUERS')) {
        const found = [...text.matchAll(new RegExp(`${gateway.source}|${own.source}`, 'g'))].map(([match]) =>
          own.test(match) ? 'own' : 'gateway',
        );
        expect(found).toEqual(urls);
      }
    });

    it('name the one issuer at {base_url}, whose host is the only one it has', () => {
      const [servers, ...others] = environments.flatMap(({ AUTHORIZATION_SERVERS: value }) => (value ? [value] : []));
      expect(others).toEqual([]);
      expect(JSON.stringify(servers)).toMatch(urls[0] === 'own' ? own : gateway);
      expect(own.test(JSON.stringify(servers)) && gateway.test(JSON.stringify(servers))).toBe(false);
    });

    it('are never delivered to under any name that answers', () => {
      const texts = environments.flatMap(({ OWN_HOSTS }) => (OWN_HOSTS ? [JSON.stringify(OWN_HOSTS)] : []));
      expect(texts).toHaveLength(4);
      for (const text of texts) {
        expect(text).toContain('auth.emissor.com.br');
        expect(gateway.test(text)).toBe(!isGatewayOff);
      }
    });
  });
});
