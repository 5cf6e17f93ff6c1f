import * as z from 'zod';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';
import { logTime } from './event.ts';
import type { AnsweredRequest } from './gateway.ts';

export interface AccessLog {
  /** The log group that it is written to. */
  readonly group: string;
  /** The text of a line, with variables: `$context.requestId`. */
  readonly format: string;
}

/** Reads the access logs of the template, by the id of their API. */
export function readAccessLogs(resources: readonly LiveResource[]): ReadonlyMap<string, AccessLog> {
  return new Map(
    ofType(resources, 'AWS::ApiGatewayV2::Stage').flatMap(resource => {
      const { ApiId, AccessLogSettings } = readProperties(stageSchema, resource);
      if (!AccessLogSettings) return [];
      const { DestinationArn, Format } = AccessLogSettings;
      return [[ApiId, { group: DestinationArn.split(':')[6] ?? '', format: Format }]];
    }),
  );
}

/** Returns the line of a request. As in API Gateway's, what is not known is `-`; so is a variable that is not emulated. */
export function accessLine(format: string, answered: AnsweredRequest): string {
  const values = valuesOf(answered);
  return format.replace(/\$context\.([A-Za-z.]+)/g, (_, name: string) =>
    JSON.stringify(String(values[name] ?? '-')).slice(1, -1),
  );
}

const stageSchema = z.object({
  ApiId: z.string(),
  AccessLogSettings: z.object({ DestinationArn: z.string().regex(/:log-group:/), Format: z.string() }).optional(),
});

function valuesOf(answered: AnsweredRequest): Readonly<Record<string, string | number | undefined>> {
  const { request, routeKey, response, error, milliseconds } = answered;
  return {
    requestId: request.requestId,
    requestTime: logTime(request.receivedAt),
    requestTimeEpoch: request.receivedAt,
    'identity.sourceIp': request.sourceIp,
    httpMethod: request.method,
    path: request.path,
    protocol: request.protocol,
    routeKey,
    stage: '$default',
    status: response.status,
    responseLength: response.body.length,
    responseLatency: milliseconds,
    'error.message': error,
  };
}
