import { ApiError, NoResponse } from './api.ts';
import type { Texts } from './texts/en.ts';
import { NotFound } from './view.ts';

export function messageOf({ failures }: Texts, error: unknown, isChange = false): string {
  if (error instanceof NoResponse)
    return failures.noResponse(error.code) + (isChange ? ` ${failures.isUncertain}` : '');
  if (error instanceof ApiError) {
    if (error.code === 'no_token') return failures.noToken;
    if (['invalid_grant', 'invalid_client'].includes(error.code)) return failures.badCredentials;
    const { message, status, findings, requisicao, retryAfter } = error;
    const text = message.startsWith('HTTP ') && [429, 503].includes(status) ? failures.busy : message;
    const extra = Object.entries({ 'Retry-After': retryAfter && `${retryAfter} s`, requisicao }).filter(([, it]) => it);
    const all = [...findings.map(({ field, detail }) => [field, detail]), ...extra].map(pair => pair.join(': '));
    return [text, ...all].join(' ');
  }
  if (error instanceof NotFound) return error.message;
  console.error(error);
  return failures.unexpected;
}

export function statusOf(error: unknown): number {
  if (error instanceof NotFound) return 404;
  return error instanceof ApiError && error.status < 500 ? error.status : 502;
}
