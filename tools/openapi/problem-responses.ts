import { type ProblemTable, problemTitles } from '../../lambdas/api/problem.ts';
import { apiProblems, bodyProblems, protectedProblems } from '../../lambdas/api/problems.ts';
import { deliveryProblems } from '../../lambdas/delivery/api/routes.ts';
import { fillIn, type Values } from '../../lambdas/platform/text-template.ts';
import { webhookProblems } from '../../lambdas/webhooks/routes.ts';
import {
  type BaseOperation,
  type Example,
  type PossibleFinding,
  type ProblemName,
  ref,
  type ServiceResponse,
} from './description.ts';
import type { HeaderNames } from './headers.ts';

/** Returns the error responses for a {base_url} operation, by status. */
export function problemResponses(operation: BaseOperation): Record<string, ServiceResponse> {
  const byStatus = Map.groupBy(Object.entries(problemsOf(operation)), ([, { status }]) => status);
  const values = { scope: operation.access };
  return Object.fromEntries(
    [...byStatus].map(([status, rows]) => [
      status,
      problemResponse(status, Object.fromEntries(rows), values, operation.findings),
    ]),
  );
}

/**
 * Returns the error response for a status, with an example of each case in English and one example in Portuguese.
 *
 * @param values - the values of the placeholders in the texts
 */
export function problemResponse(
  status: Status,
  problems: ProblemTable,
  values: Values = {},
  findings: readonly PossibleFinding[] = [],
): ServiceResponse {
  const codes = [...new Set(Object.entries(problems).map(([name, { code = name }]) => code))];
  const own = Object.keys(problems).map(name => headersOf[name] ?? {});
  const headers: HeaderNames = Object.assign(
    { 'Cache-Control': 'NoStore', 'Content-Language': 'ContentLanguage' },
    ...own,
  );
  return {
    description: `${problemTitles[status].en}: ${codes.map(code => `\`${code}\``).join(', ')}.`,
    mediaType: 'application/problem+json',
    schema: ref(status === 422 ? 'ValidationProblem' : 'Problem'),
    examples: examplesOf(problems, values, findings),
    headers,
    sometimes: Object.keys(headers).filter(name => own.some(has => !(name in has)) && !commonHeaders.includes(name)),
  };
}

const allProblems = { ...apiProblems, ...webhookProblems, ...deliveryProblems };

type Status = keyof typeof problemTitles;

const commonHeaders = ['Cache-Control', 'Content-Language'];

/** The headers of each error. */
const headersOf: Readonly<Record<string, HeaderNames>> = {
  token_missing: { 'WWW-Authenticate': 'BearerChallenge' },
  invalid_token: { 'WWW-Authenticate': 'BearerChallenge' },
  insufficient_scope: { 'WWW-Authenticate': 'BearerChallenge' },
  unsupported_media_type: { Accept: 'Accept' },
  too_many_secrets: { 'Retry-After': 'RetryAfter' },
  registration_limit_reached: { 'Retry-After': 'RetryAfter' },
  test_limit_reached: { 'Retry-After': 'RetryAfter' },
  resend_limit_reached: { 'Retry-After': 'RetryAfter' },
  replay_in_progress: { Location: 'ReplayLocation' },
  concurrent_change: { 'Retry-After': 'RetryAfter' },
  busy: { 'Retry-After': 'RetryAfter' },
} satisfies Partial<Record<ProblemName, HeaderNames>>;

function examplesOf(
  problems: ProblemTable,
  values: Values,
  findings: readonly PossibleFinding[],
): Record<string, Example> {
  const rows = Object.entries(problems);
  const english = rows.map(([name, row]) => [name, exampleOf({ code: name, ...row }, 'en', values, findings)]);
  const portuguese = rows
    .slice(0, 1)
    .map(([name, row]) => [`${name}.pt`, exampleOf({ code: name, ...row }, 'pt', values, findings)]);
  return Object.fromEntries([...english, ...portuguese]);
}

function exampleOf(
  { status, code, ...texts }: Required<ProblemTable[string]>,
  language: 'en' | 'pt',
  values: Values,
  findings: readonly PossibleFinding[],
): Example {
  const errors = findings.map(({ location, finding, values: own = {} }) => ({
    ...location,
    code: finding.code,
    detail: fillIn(finding[language], own),
  }));
  return {
    summary: language === 'en' ? code : `${code}, in Portuguese`,
    value: {
      type: 'about:blank',
      title: problemTitles[status][language],
      status,
      detail: fillIn(texts[language], values),
      code,
      requisicao: 'AbCdEfGhIjKlMnO=',
      ...(status === 422 && { errors }),
    },
  };
}

/** Returns all errors of an operation, including those that all bodies and all protected operations share. */
function problemsOf({ access, takesBody, errors }: BaseOperation): ProblemTable {
  const listed = Object.fromEntries(errors.map(name => [name, allProblems[name]]));
  return access === 'public' ? listed : { ...(takesBody && bodyProblems), ...listed, ...protectedProblems };
}
