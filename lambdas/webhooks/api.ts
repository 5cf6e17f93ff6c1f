import type { BearerAuthentication } from '../auth/bearer.ts';
import { isThrottled } from '../platform/dynamodb.ts';
import type { HttpRequest, HttpResponse } from '../platform/http.ts';
import { describeError, type Log } from '../platform/telemetry.ts';
import { admit } from './access.ts';
import { Problem, toProblemResponse } from './problem.ts';
import type { Call, Endpoint, Resource } from './resource.ts';

/** What the API stands on. */
export interface ApiDependencies {
  readonly authenticate: BearerAuthentication;
  readonly resources: readonly Resource[];
  readonly log: Log;
}

const toProblem = (error: unknown, log: Log): Problem => {
  if (error instanceof Problem) return error;
  if (isThrottled(error)) {
    log.warn('a dependency throttles', describeError(error));
    const headers = { 'retry-after': '1' };
    return new Problem(503, 'temporarily_unavailable', 'The service is busy: try again in a moment.', { headers });
  }
  log.error('request failed', describeError(error));
  return new Problem(500, 'internal_error', 'Something went wrong here. Try again; if it stays, tell us the time.');
};

/**
 * Makes an API of {base_url}. The checks run in one order for every endpoint: path, method, token, role, scope; then the
 * operation's own: media type, size, JSON, values, existence, conflicts.
 */
export const makeApi = ({ authenticate, resources, log }: ApiDependencies) => {
  const route = (request: HttpRequest): { endpoint: Endpoint; path: Call['path'] } => {
    for (const { path: pattern, methods } of resources) {
      const match = pattern.exec(request.rawPath);
      if (!match) continue;
      const { method } = request.requestContext.http;
      const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!endpoint) {
        const allow = Object.keys(methods).join(', ');
        throw new Problem(405, 'method_not_allowed', `This path takes ${allow}.`, { headers: { allow } });
      }
      return { endpoint, path: { ...match.groups } }; // the gateway hands paths over decoded
    }
    throw new Problem(404, 'not_found', 'There is nothing at this path.');
  };

  return async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      const { endpoint, path } = route(request);
      const caller = await admit(authenticate, request.headers.authorization, endpoint.needs);
      const response = await endpoint.run({ caller, request, path });
      const { accountId: account, userId, clientId } = caller;
      const { method } = request.requestContext.http;
      log.info('request answered', { method, status: response.statusCode, account, userId, clientId });
      return response;
    } catch (error) {
      const problem = toProblem(error, log);
      log.info('request refused', { status: problem.status, code: problem.code });
      return toProblemResponse(problem);
    }
  };
};
