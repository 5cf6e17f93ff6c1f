import { accessLogFormat } from '../../lib/constructs/http-endpoint.ts';

/** Returns the bytes of a line of the access logs, with values as they are for a login through API Gateway's own host. */
export function accessLineBytes(): number {
  const line = accessLogFormat.toString().replace(/\$context\.([A-Za-z.]+)/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The access logs have $context.${name}, which has no value here.`);
    return value;
  });
  return Buffer.byteLength(line);
}

const values: Readonly<Record<string, string>> = {
  requestId: 'JKJaXmPLvHcESHA=',
  domainName: 'a1b2c3d4e5.execute-api.us-east-1.amazonaws.com',
  requestTime: '22/Nov/2026:12:00:00 +0000',
  'identity.sourceIp': '203.0.113.100',
  httpMethod: 'POST',
  path: '/oauth/v1/token',
  routeKey: 'ANY /oauth/v1/token',
  status: '200',
  responseLength: '1234',
  integrationStatus: '200',
  responseLatency: '65',
  'error.message': '-',
  integrationErrorMessage: '-',
};
