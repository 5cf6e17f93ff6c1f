/** A route of an HTTP API and what it leads to. */
export interface Route<Target> {
  /** `GET /path/{parameter}`, `ANY /path/{proxy+}` or `$default`. */
  readonly routeKey: string;
  readonly target: Target;
}

/** A route that fits a request. */
export interface RouteMatch<Target> extends Route<Target> {
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the route of a request, by its method and its decoded path. */
export type FindRoute<Target> = (method: string, path: string) => RouteMatch<Target> | undefined;

/** Makes the route table of an HTTP API; routes are chosen as API Gateway chooses them, whatever their order. */
export function makeRouteTable<Target>(routes: readonly Route<Target>[]): FindRoute<Target> {
  const fallback = routes.find(({ routeKey }) => routeKey === '$default');
  const patterns = routes
    .filter(route => route !== fallback)
    .map(parse)
    .sort((one, other) => (one.rank < other.rank ? -1 : 1));

  return function routeTable(method, path) {
    const segments = path.split('/').slice(1);
    for (const pattern of patterns) {
      if (pattern.method !== 'ANY' && pattern.method !== method) continue;
      const pathParameters = matchSegments(pattern.segments, segments);
      if (pathParameters) return { ...pattern.route, pathParameters };
    }
    return fallback && { ...fallback, pathParameters: {} };
  };
}

function parse<Target>(route: Route<Target>): Pattern<Target> {
  const [method = '', path = ''] = route.routeKey.split(' ');
  const segments = path.split('/').slice(1);
  return { route, method, segments, rank: rankOf(method, segments) };
}

function matchSegments(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const value = path[index];
    if (value === undefined) return undefined;
    if (isGreedy(segment)) {
      const rest = path.slice(index).join('/');
      return rest === '' ? undefined : { ...parameters, [segment.slice(1, -2)]: rest };
    }
    if (isParameter(segment) && value !== '') parameters[segment.slice(1, -1)] = value;
    else if (segment !== value) return undefined;
  }
  return path.length === pattern.length ? parameters : undefined;
}

interface Pattern<Target> {
  readonly route: Route<Target>;
  readonly method: string;
  readonly segments: readonly string[];
  /** One letter per segment and one for the method; what sorts first is more specific. */
  readonly rank: string;
}

/** Literal before parameter before greedy parameter, segment by segment; a method of its own before `ANY`. */
function rankOf(method: string, segments: readonly string[]): string {
  return (
    segments.map(segment => (isGreedy(segment) ? 'c' : isParameter(segment) ? 'b' : 'a')).join('') +
    (method === 'ANY' ? 'z' : 'y')
  );
}

function isGreedy(segment: string): boolean {
  return segment.endsWith('+}');
}

function isParameter(segment: string): boolean {
  return /^\{.+\}$/.test(segment);
}
