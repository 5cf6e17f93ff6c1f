import { describe, expect, it } from 'vitest';
import { accessLine, readAccessLogs } from '../../../src/local/http-api/access-log.ts';
import { gatewayMessage } from '../../../src/local/http-api/response.ts';
import { liveResource } from '../live-resource.ts';

const request = {
  requestId: 'AbCdEfGhIjKlMnO=',
  method: 'POST',
  path: '/v1/"x"',
  rawQueryString: 'secret=1',
  protocol: 'HTTP/1.1',
  rawHeaders: ['Authorization', 'Bearer secret'],
  body: Buffer.from('secret'),
  sourceIp: '127.0.0.1',
  receivedAt: Date.UTC(2026, 2, 5, 7, 8, 9),
};
const answered = {
  request,
  routeKey: 'ANY /v1/{proxy+}',
  response: gatewayMessage(429, 'Too Many Requests'),
  error: 'Too Many Requests',
  milliseconds: 12,
};

describe('a line of the access log', () => {
  it('has the values of the format, as JSON where the format is JSON', () => {
    const format = JSON.stringify({
      id: '$context.requestId',
      at: '$context.requestTime',
      ip: '$context.identity.sourceIp',
      what: '$context.httpMethod $context.path $context.routeKey',
      how: '$context.status $context.responseLength $context.responseLatency',
      error: '$context.error.message',
    });
    expect(JSON.parse(accessLine(format, answered))).toEqual({
      id: 'AbCdEfGhIjKlMnO=',
      at: '05/Mar/2026:07:08:09 +0000',
      ip: '127.0.0.1',
      what: 'POST /v1/"x" ANY /v1/{proxy+}',
      how: '429 31 12',
      error: 'Too Many Requests',
    });
  });

  it('tells a value that is not known as "-"', () => {
    const unrouted = { ...answered, routeKey: undefined, error: undefined };
    const format = '$context.routeKey $context.error.message $context.integrationErrorMessage $context.nothing';
    expect(accessLine(format, unrouted)).toBe('- - - -');
  });
});

describe('the access logs of a template', () => {
  const stage = (DestinationArn?: string, ApiId = 'abcdefghij') =>
    liveResource('AWS::ApiGatewayV2::Stage', {
      ApiId,
      ...(DestinationArn !== undefined && { AccessLogSettings: { DestinationArn, Format: 'x' } }),
    });

  it('are those of the stages that have one', () => {
    const read = readAccessLogs([
      stage('arn:aws:logs:us-east-1:000000000000:log-group:logs/api:*'),
      stage(undefined, 'other'),
    ]);
    expect([...read]).toEqual([['abcdefghij', { group: 'logs/api', format: 'x' }]]);
  });

  it('go to log groups only', () => {
    const elsewhere = stage('arn:aws:firehose:us-east-1:000000000000:deliverystream/x');
    expect(() => readAccessLogs([elsewhere])).toThrow('AccessLogSettings.DestinationArn');
  });
});
