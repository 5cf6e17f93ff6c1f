import * as z from 'zod/mini';
import type { HttpResponse } from '../platform/http.ts';

/** One thing that is wrong with a request, and how to correct it. */
export type Finding = Readonly<z.infer<typeof finding>>;

/** Status codes and their reason phrases (RFC 9110 section 15). `node:http` has older ones, and costs 30 ms to import. */
const titles = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** The refusal of a request: thrown where the reason is found, turned into a response by the router. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: keyof typeof titles;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly Finding[] | undefined;

  /** @param detail - what is wrong and how to correct it; it must not repeat secrets. */
  constructor(status: keyof typeof titles, code: string, detail: string, { headers = {}, errors }: ProblemExtras = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.errors = errors;
  }
}

/** The refusal of a request over a limit. */
export function rateLimited(detail: string, seconds: number): Problem {
  return new Problem(429, 'rate_limited', detail, { headers: { 'retry-after': String(seconds) } });
}

/** The refusal of a body or query that can be parsed but is not valid. */
export function validationFailed(errors: readonly Finding[]): Problem {
  return new Problem(422, 'validation_failed', 'The request is not acceptable: errors lists every reason.', { errors });
}

/**
 * The response to a refused request, as problem details (RFC 9457).
 *
 * @param docsUrl - the page that explains all codes, each under an anchor of its own.
 */
export function toProblemResponse(
  { status, code, message, headers, errors }: Problem,
  docsUrl: string | undefined,
): HttpResponse {
  const body: z.infer<typeof problemBody> = {
    type: docsUrl === undefined ? 'about:blank' : `${docsUrl}#${code}`,
    title: titles[status],
    status,
    detail: message,
    code,
    ...(errors ? { errors: [...errors] } : {}),
  };
  return {
    statusCode: status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** What `new Problem` takes beyond status, code and detail. */
interface ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly Finding[];
}

const reason = { code: z.string(), detail: z.string() };

const finding = z.union([
  /** `pointer`: JSON Pointer (RFC 6901) to the value in the body; empty for the body itself. */
  z.object({ pointer: z.string(), ...reason }),
  /** `parameter`: the name of the query parameter. */
  z.object({ parameter: z.string(), ...reason }),
]);

/** The body of a refusal: problem details (RFC 9457). `code` tells refusals of one status apart. */
export const problemBody = z.object({
  /** The page that explains `code`, or `about:blank`. */
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  errors: z.optional(z.array(finding)),
});
