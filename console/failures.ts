import { NoAnswer, Refusal } from './api.ts';
import type { Texts } from './texts/en.ts';
import { NotFound } from './view.ts';

/** Returns the message of a failure in the language of the page: that of the API, if it gave one. */
export function messageOf({ failures }: Texts, error: unknown): string {
  if (error instanceof NoAnswer) return failures.noAnswer(error.code);
  if (error instanceof Refusal) {
    if (error.code === 'no_token') return failures.noToken;
    if (['invalid_grant', 'invalid_client'].includes(error.code)) return failures.badCredentials;
    const said = error.message.startsWith('HTTP ') && [429, 503].includes(error.status) ? failures.busy : error.message;
    const findings = error.findings.map(({ field, detail }) => `${field}: ${detail}`);
    return [said, ...findings, error.retryAfter && failures.retryAfter(error.retryAfter)].filter(Boolean).join(' ');
  }
  if (error instanceof NotFound) return error.message;
  console.error(error);
  return failures.unforeseen;
}

export function statusOf(error: unknown): number {
  if (error instanceof NotFound) return 404;
  return error instanceof Refusal && error.status < 500 ? error.status : 502;
}
