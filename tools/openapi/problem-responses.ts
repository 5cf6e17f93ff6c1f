import { problemTitles } from '../../lambdas/api/problem.ts';
import { apiProblems } from '../../lambdas/api/problems.ts';
import { maximumBodyBytes } from '../../lambdas/api/request-body.ts';
import { deliveryProblems } from '../../lambdas/delivery/api/problems.ts';
import { fillIn, type Values } from '../../lambdas/platform/text-template.ts';
import { webhookProblems } from '../../lambdas/webhooks/problems.ts';
import {
  type BaseOperation,
  type Example,
  type OwnResponse,
  type PossibleFinding,
  type ProblemName,
  ref,
} from './description.ts';
import type { HeaderNames } from './headers.ts';

/** Returns the responses for what an operation of {base_url} refuses, by status. */
export function problemResponses(operation: BaseOperation): Record<string, OwnResponse> {
  const byStatus = Map.groupBy(problemsOf(operation), name => problems[name].status);
  const values = { scope: operation.access, maximum: maximumBodyBytes };
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [status, problemResponse(status, names, values, operation.findings)]),
  );
}

/**
 * The response for refusals of one status: their codes, with an example of each case in English, and of the first in Portuguese.
 *
 * @param values - what stands in the places of their texts.
 */
export function problemResponse(
  status: Status,
  names: readonly ProblemName[],
  values: Values = {},
  findings: readonly PossibleFinding[] = [],
): OwnResponse {
  const codes = [...new Set(names.map(name => problems[name].code))];
  const own = names.map(name => headersOf[name] ?? {});
  const headers: HeaderNames = Object.assign(
    { 'Cache-Control': 'NoStore', 'Content-Language': 'ContentLanguage' },
    ...own,
  );
  return {
    description: `${problemTitles[status].en}: ${codes.map(code => `\`${code}\``).join(', ')}.`,
    mediaType: 'application/problem+json',
    schema: ref(status === 422 ? 'ValidationProblem' : 'Problem'),
    examples: examplesOf(names, values, findings),
    headers,
    sometimes: Object.keys(headers).filter(name => own.some(has => !(name in has)) && !everywhere.includes(name)),
  };
}

const problems = { ...apiProblems, ...webhookProblems, ...deliveryProblems };

type Status = keyof typeof problemTitles;

const everywhere = ['Cache-Control', 'Content-Language'];

/** The headers that come with a refusal. */
const headersOf: Partial<Record<ProblemName, HeaderNames>> = {
  token_missing: { 'WWW-Authenticate': 'BearerChallenge' },
  invalid_token: { 'WWW-Authenticate': 'BearerChallenge' },
  insufficient_scope: { 'WWW-Authenticate': 'BearerChallenge' },
  unsupported_media_type: { Accept: 'Accept' },
  too_many_secrets: { 'Retry-After': 'RetryAfter' },
  tests_used_up: { 'Retry-After': 'RetryAfter' },
  resends_used_up: { 'Retry-After': 'RetryAfter' },
  replay_in_progress: { Location: 'ReplayLocation' },
  contended: { 'Retry-After': 'RetryAfter' },
  busy: { 'Retry-After': 'RetryAfter' },
};

function examplesOf(
  names: readonly ProblemName[],
  values: Values,
  findings: readonly PossibleFinding[],
): Record<string, Example> {
  const english = names.map(name => [name, exampleOf(name, 'en', values, findings)]);
  const portuguese = names.slice(0, 1).map(name => [`${name}.pt`, exampleOf(name, 'pt', values, findings)]);
  return Object.fromEntries([...english, ...portuguese]);
}

function exampleOf(
  name: ProblemName,
  language: 'en' | 'pt',
  values: Values,
  findings: readonly PossibleFinding[],
): Example {
  const { status, code, ...texts } = problems[name];
  const errors = findings.map(({ place, finding, values: own = {} }) => ({
    ...place,
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

const tokenRefusals = ['token_missing', 'invalid_token', 'admin_required', 'insufficient_scope'] as const;

const bodyRefusals = [
  'body_not_json',
  'body_not_utf8',
  'body_empty',
  'body_repeats_name',
  'unsupported_media_type',
] as const;

function problemsOf({ access, takesBody, refusals, findings = [] }: BaseOperation): readonly ProblemName[] {
  if (access === 'public') return refusals;
  return [
    ...(takesBody ? bodyRefusals : []),
    ...tokenRefusals,
    ...refusals,
    'payload_too_large',
    ...(findings.length > 0 ? (['validation_failed'] as const) : []),
    'busy',
    'internal_error',
  ];
}
