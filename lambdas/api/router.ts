import type { Principal } from '../auth/sessions/bearer.ts';
import { isUnavailable } from '../platform/dynamo.ts';
import { bodyBytes, type HttpRequest, type HttpResponse } from '../platform/http.ts';
import { describeError, type Log } from '../platform/telemetry.ts';
import { type Admission, admit } from './authorization.ts';
import { type Finding, Problem, toProblemResponse } from './problem.ts';
import { refuseLongBody } from './request-body.ts';
import {
  allowedMethods,
  type Endpoint,
  matchPath,
  type PublicEndpoint,
  type RequestContext,
  type Resource,
} from './route.ts';

/** What an API of {base_url} is made of. */
export interface ApiDependencies extends Admission {
  readonly resources: readonly Resource[];
  /** The page that tells about the codes of refusals, where the stage has one. */
  readonly docsUrl: string | undefined;
  readonly log: Log;
}

/**
 * Makes an API of {base_url}. The checks run in one order for every endpoint: path, method, token, role, scope; then the
 * operation's own: media type, size, JSON, values, existence, conflicts, limits.
 */
export function makeApi(dependencies: ApiDependencies) {
  const { resources, docsUrl, log } = dependencies;

  return async function api(request: HttpRequest): Promise<HttpResponse> {
    const { method } = request.requestContext.http;
    let route: Route | undefined;
    let caller: Principal | undefined;
    const said = () => ({
      method,
      route: route?.resource.path,
      account: caller?.accountId,
      clientId: caller?.clientId,
      userId: caller?.userId,
    });
    try {
      route = findRoute(resources, request);
      const { resource, path } = route;
      const endpoint = findEndpoint(resource, request);
      if (endpoint.needs === 'nothing') return endpoint.respond();
      caller = await admit(dependencies, request.headers.authorization, endpoint.needs);
      if (!endpoint.takesBody) refuseLongBody(bodyBytes(request));
      const response = await endpoint.run({ caller, request, path });
      log.info('webhook.answered', { ...said(), status: response.statusCode });
      return response;
    } catch (error) {
      const problem = toProblem(error, log);
      const { status, code } = problem;
      log.warn('webhook.refused', { ...said(), status, code, findings: describeFindings(problem) });
      return toProblemResponse(problem, docsUrl);
    }
  };
}

/** Which resource a request is for. */
interface Route {
  readonly resource: Resource;
  readonly path: RequestContext['path'];
}

/** @throws {Problem} 404 for a path that is none. */
function findRoute(resources: readonly Resource[], { rawPath }: HttpRequest): Route {
  for (const resource of resources) {
    const path = matchPath(resource.path, rawPath); // the gateway hands paths over decoded
    if (path) return { resource, path };
  }
  throw new Problem(404, 'not_found', 'There is nothing at this path.');
}

/** @throws {Problem} 405 for a method that the resource does not take. */
function findEndpoint(resource: Resource, { requestContext }: HttpRequest): Endpoint | PublicEndpoint {
  const method = requestContext.http.method === 'HEAD' ? 'GET' : requestContext.http.method; // the gateway keeps the body back
  const endpoint = Object.hasOwn(resource.methods, method) ? resource.methods[method] : undefined;
  if (endpoint) return endpoint;
  const allow = allowedMethods(resource);
  throw new Problem(405, 'method_not_allowed', `This path takes ${allow}.`, { headers: { allow } });
}

function toProblem(error: unknown, log: Log): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) {
    log.warn('webhook.dependency_busy', describeError(error));
    const headers = { 'retry-after': '1' };
    return new Problem(503, 'temporarily_unavailable', 'The service is busy: try again in a moment.', { headers });
  }
  log.error('webhook.request_failed', describeError(error));
  return new Problem(500, 'internal_error', 'Something went wrong here. Try again; if it stays, tell us the time.');
}

/** What the log may say of the findings: a name that is not ours may be anything, a secret too, whatever else is wrong with it. */
function describeFindings({ errors = [] }: Problem): string[] {
  const nameOf = (finding: Finding) => ('pointer' in finding ? finding.pointer : finding.parameter);
  const notOurs = new Set(errors.filter(({ code }) => code === 'unknown_field').map(nameOf));
  return errors.map(finding => {
    const name = nameOf(finding);
    return notOurs.has(name) ? finding.code : `${name} ${finding.code}`;
  });
}
