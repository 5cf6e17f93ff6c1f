import { makeBearerAuthentication, type Principal } from '../auth/sessions/bearer.ts';
import { isUnavailable } from '../platform/aws/dynamo.ts';
import { bodyBytes, type HttpRequest, type HttpResponse, isRejection } from '../platform/http.ts';
import { describeError, type Log } from '../platform/telemetry.ts';
import { authorize } from './authorization.ts';
import type { Finding } from './findings.ts';
import { preferredLanguage } from './language.ts';
import { Problem, retryAfter, toProblemResponse } from './problem.ts';
import { pathProblems, protectedProblems } from './problems.ts';
import { resourceMetadataUrl } from './protected-resource.ts';
import { assertBodySize } from './request-body.ts';
import { type AuthorizedRequest, allowedMethods, type Endpoint, matchPath, type Resource } from './route.ts';

/**
 * Creates an API of {base_url}. The API checks the path, method, token, role and scope of a request, in this order. The handler then checks
 * the media type, size, JSON, values, existence, conflicts and limits. A limit on expensive checks precedes those checks.
 *
 * @param parts - `environment.docsUrl` is the page that explains the error codes, if the stage has one.
 */
export function makeApi({ environment, log, resources, ...parts }: ApiParts) {
  const { docsUrl, audience, clientsTable: clients, usersTable: users, sessionsTable: sessions } = environment;
  const protection = {
    authenticate: makeBearerAuthentication({ ...environment, ...parts, tables: { clients, users, sessions } }),
    resourceMetadata: resourceMetadataUrl(audience),
  };

  return async function api(request: HttpRequest): Promise<HttpResponse> {
    const { http, requestId } = request.requestContext;
    const { method } = http;
    let route: Route | undefined;
    let caller: Principal | undefined;
    const logFields = () => ({
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
      if (endpoint.access === 'public') return endpoint.handle(request);
      caller = await authorize(protection, request, endpoint.access);
      if (!endpoint.takesBody) assertBodySize(bodyBytes(request), protectedProblem);
      const response = await endpoint.handle({ caller, request, path });
      log.info('api.request', { ...logFields(), status: response.statusCode });
      return response;
    } catch (error) {
      const problem = toProblem(error, log);
      const { status, code, reason } = problem;
      const details = { status, code, ...(reason !== code && { reason }), findings: describeFindings(problem) };
      log.warn('api.refused', { ...logFields(), ...details });
      const language = preferredLanguage(request.headers['accept-language']);
      const response = toProblemResponse(problem, { docsUrl, requestId, language });
      return problem === error ? { ...response, [isRejection]: true } : response;
    }
  };
}

type Bearer = Parameters<typeof makeBearerAuthentication>[0];

interface ApiParts extends Pick<Bearer, 'dynamo' | 'keyring' | 'now'> {
  readonly environment: Pick<Bearer, 'issuer' | 'audience'> & {
    readonly clientsTable: string;
    readonly usersTable: string;
    readonly sessionsTable: string;
    readonly docsUrl?: string | undefined;
  };
  readonly log: Log;
  readonly resources: readonly Resource[];
}

/** The resource and the path parameters of a request. */
interface Route {
  readonly resource: Resource;
  readonly path: AuthorizedRequest['path'];
}

/** Returns the route of a request. @throws {Problem} 404 for an unknown path. */
function findRoute(resources: readonly Resource[], { rawPath }: HttpRequest): Route {
  for (const resource of resources) {
    const path = matchPath(resource.path, rawPath); // the gateway decodes paths
    if (path) return { resource, path };
  }
  throw pathProblem('not_found');
}

/** Returns the endpoint of a method. @throws {Problem} 405 for a method that the resource does not support. */
function findEndpoint(resource: Resource, { requestContext }: HttpRequest): Endpoint {
  const method = requestContext.http.method === 'HEAD' ? 'GET' : requestContext.http.method; // the gateway drops the body
  const endpoint = Object.hasOwn(resource.methods, method) ? resource.methods[method] : undefined;
  if (endpoint) return endpoint;
  const allow = allowedMethods(resource);
  throw pathProblem('method_not_allowed', { values: { allow }, headers: { allow } });
}

/** Returns a `Problem` unchanged. Logs any other error and converts it to 503 or 500. */
function toProblem(error: unknown, log: Log): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) {
    log.error('api.dependency_busy', describeError(error));
    return protectedProblem('busy', { headers: retryAfter(1) });
  }
  log.error('api.failed', describeError(error));
  return protectedProblem('internal_error');
}

const pathProblem = Problem.from(pathProblems);
const protectedProblem = Problem.from(protectedProblems);

/** Returns the findings for the log. Omits unknown names, because they may be secrets. */
function describeFindings({ errors = [] }: Problem): string[] {
  const nameOf = (finding: Finding) => ('pointer' in finding ? finding.pointer : finding.parameter);
  const unknown = new Set(errors.filter(({ code }) => code === 'unknown_field').map(nameOf));
  return errors.map(finding => {
    const name = nameOf(finding);
    return unknown.has(name) ? finding.code : `${name} ${finding.code}`;
  });
}
