import type { ProblemTable } from './problem.ts';
import { maximumBodyBytes } from './request-body.ts';

/** The errors of requests to {base_url} that match no operation. */
export const pathProblems = {
  not_found: {
    status: 404,
    en: 'This path does not exist.',
    pt: 'Não há nada neste caminho.',
  },
  method_not_allowed: {
    status: 405,
    en: 'This path supports {allow}.',
    pt: 'Este caminho aceita {allow}.',
  },
} as const satisfies ProblemTable;

/** The errors of every operation that requires a token. */
export const protectedProblems = {
  token_missing: {
    status: 401,
    en: 'Send an access token: Authorization: Bearer <token>.',
    pt: 'Envie um token de acesso: Authorization: Bearer <token>.',
  },
  invalid_token: {
    status: 401,
    en: 'The access token is malformed, expired or revoked. Get a new one from the token endpoint.',
    pt: 'O token de acesso está malformado, vencido ou revogado: obtenha um novo no endpoint de token.',
  },
  admin_required: {
    status: 403,
    en: 'Only users with administrative permission on the account can manage webhooks.',
    pt: 'Somente usuários com permissão administrativa na conta podem gerenciar webhooks.',
  },
  insufficient_scope: {
    status: 403,
    en: 'The access token does not have the scope {scope}.',
    pt: 'O token de acesso não tem o escopo {scope}.',
  },
  payload_too_large: {
    status: 413,
    en: `The body is larger than ${maximumBodyBytes} bytes.`,
    pt: `O corpo tem mais de ${maximumBodyBytes} bytes.`,
  },
  busy: {
    status: 503,
    code: 'temporarily_unavailable',
    en: 'The service is busy. Try again in a moment.',
    pt: 'O serviço está ocupado: tente novamente em instantes.',
  },
  internal_error: {
    status: 500,
    en: 'An internal error occurred. Try again. If the error persists, send the value of requisicao to support.',
    pt: 'Algo deu errado do nosso lado. Tente novamente; se continuar, informe ao suporte o valor de requisicao.',
  },
} as const satisfies ProblemTable;

/** The errors of every operation with a body. The operation's handler throws them. */
export const bodyProblems = {
  payload_too_large: protectedProblems.payload_too_large,
  body_not_json: {
    status: 400,
    code: 'invalid_json',
    en: 'The body is not valid JSON.',
    pt: 'O corpo não é um JSON válido.',
  },
  body_not_utf8: {
    status: 400,
    code: 'invalid_json',
    en: 'The body is not valid UTF-8.',
    pt: 'O corpo não é UTF-8 válido.',
  },
  body_empty: {
    status: 400,
    code: 'invalid_json',
    en: 'The body is empty. Send a JSON object.',
    pt: 'O corpo está vazio: envie um objeto JSON.',
  },
  body_repeats_name: {
    status: 400,
    code: 'invalid_json',
    en: 'The body repeats a name. Send each name only once.',
    pt: 'O corpo traz um nome duas vezes: envie cada nome uma única vez.',
  },
  unsupported_media_type: {
    status: 415,
    en: 'Send the body as application/json, in UTF-8.',
    pt: 'Envie o corpo como application/json, em UTF-8.',
  },
  validation_failed: {
    status: 422,
    en: 'The request is not valid. errors lists every reason.',
    pt: 'A requisição não pode ser aceita: errors lista todos os motivos.',
  },
} as const satisfies ProblemTable;

/** The errors that all endpoints of {base_url} share. */
export const apiProblems = { ...pathProblems, ...protectedProblems, ...bodyProblems };
