import * as z from 'zod/mini';
import type { HttpResponse } from '../platform/http.ts';
import type { Values, ValuesParameter } from '../platform/text-template.ts';
import type { Finding } from './findings.ts';
import { contentLanguages, fillInBoth, type Language, type Texts } from './language.ts';

/**
 * The reason phrases of status codes (RFC 9110 section 15), translated as RFC 9457 section 4.2.1 permits. `node:http` contains
 * older phrases, and its import takes 30 ms.
 */
export const problemTitles = {
  400: { en: 'Bad Request', pt: 'Requisição inválida' },
  401: { en: 'Unauthorized', pt: 'Não autorizado' },
  403: { en: 'Forbidden', pt: 'Acesso negado' },
  404: { en: 'Not Found', pt: 'Não encontrado' },
  405: { en: 'Method Not Allowed', pt: 'Método não permitido' },
  409: { en: 'Conflict', pt: 'Conflito' },
  413: { en: 'Content Too Large', pt: 'Conteúdo grande demais' },
  415: { en: 'Unsupported Media Type', pt: 'Tipo de mídia não suportado' },
  422: { en: 'Unprocessable Content', pt: 'Conteúdo não processável' },
  429: { en: 'Too Many Requests', pt: 'Requisições em excesso' },
  500: { en: 'Internal Server Error', pt: 'Erro interno do servidor' },
  503: { en: 'Service Unavailable', pt: 'Serviço indisponível' },
} as const satisfies Record<number, Texts>;

/**
 * A table of {base_url} errors, by case. The message of a case explains the error and how to correct it. The default code is the
 * name of the case. Messages never repeat secrets. `{name}` is a placeholder for a value.
 */
export type ProblemTable = Readonly<Record<string, ProblemCase>>;

/** The rejection of a request, which the router converts to a response. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: ProblemCase['status'];
  readonly code: string;
  /** The name of the case. */
  readonly reason: string;
  readonly detail: Texts;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly Finding[] | undefined;

  private constructor({ reason, status, code = reason, ...texts }: NamedCase, extras: ProblemExtras) {
    const { values = {}, headers = {}, errors } = extras;
    const detail = fillInBoth(texts, values);
    super(detail.en);
    this.status = status;
    this.code = code;
    this.reason = reason;
    this.detail = detail;
    this.headers = headers;
    this.errors = errors;
  }

  /**
   * Returns the function that creates a table's problems. The linter allows this call only in the modules that pass the
   * function to a handler. They limit it to the names that the handler's operation lists.
   */
  static from<Table extends Record<keyof Table, ProblemCase>>(table: Table) {
    return function problem<Case extends keyof Table & string>(
      name: Case,
      ...[extras]: ExtrasParameter<Table[Case]['en']>
    ): Problem {
      return new Problem({ reason: name, ...table[name] }, extras ?? {});
    };
  }
}

/** Returns the problem with the specified name, for the caller to throw. */
export type MakeProblem<Name extends string> = (name: Name, extras?: Omit<ProblemExtras, 'values'>) => Problem;

/** Returns the Retry-After header, with the seconds rounded up. */
export function retryAfter(seconds: number): Record<string, string> {
  return { 'retry-after': String(Math.ceil(seconds)) };
}

/**
 * Returns the response to a rejected request as problem details (RFC 9457). It has no `Vary: Accept-Language` (RFC 9110 section 12.5.5),
 * because caches must not store it.
 *
 * @param context - `docsUrl` is the page that explains each code under its own anchor. `requestId` is the gateway's id of the request.
 */
export function toProblemResponse(
  { status, code, detail, headers, errors }: Problem,
  { docsUrl, requestId, language }: ProblemContext,
): HttpResponse {
  const body: z.infer<typeof problemBody> = {
    type: docsUrl === undefined ? 'about:blank' : `${docsUrl}#${code}`,
    title: problemTitles[status][language],
    status,
    detail: detail[language],
    code,
    requisicao: requestId,
    ...(errors ? { errors: errors.map(error => ({ ...error, detail: error.detail[language] })) } : {}),
  };
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/problem+json',
      'content-language': contentLanguages[language],
      'cache-control': 'no-store',
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

interface ProblemContext {
  readonly docsUrl: string | undefined;
  readonly requestId: string;
  readonly language: Language;
}

interface ProblemCase extends Texts {
  readonly status: keyof typeof problemTitles;
  readonly code?: string;
}

type NamedCase = ProblemCase & { readonly reason: string };

interface ProblemExtras {
  readonly values?: Values;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly errors?: readonly Finding[];
}

/** The extra parameter of a problem. It requires `values` if, and only if, the message has placeholders. */
type ExtrasParameter<Text extends string> =
  ValuesParameter<Text> extends [values: infer Needed]
    ? [extras: ProblemExtras & { readonly values: Needed }]
    : [extras?: Omit<ProblemExtras, 'values'>];

const reason = { code: z.string(), detail: z.string() };

/** An error in a request, with its location. */
export const finding = z.union([
  /** The `pointer` is a JSON Pointer (RFC 6901) to the value in the body. It is empty for the body itself. */
  z.object({ pointer: z.string(), ...reason }),
  /** The `parameter` is the name of the query parameter. */
  z.object({ parameter: z.string(), ...reason }),
]);

/** The body of an error response, which is problem details (RFC 9457). `code` distinguishes errors with the same status. */
export const problemBody = z.object({
  /** The page that explains `code`, or `about:blank`. */
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  /** The gateway's id of the request, as in the header `apigw-requestid`. */
  requisicao: z.string(),
  errors: z.optional(z.array(finding)),
});
