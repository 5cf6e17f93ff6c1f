import type { HttpRequest } from './http.ts';

/** The URLs of one of our APIs. The first names it; a second one answers too while the stage changes its domain. */
export type OwnUrls = readonly [string, ...string[]];

/** Returns the URL that a request was sent to; the first where its `Host` header names none of them. */
export function calledUrl({ headers }: Pick<HttpRequest, 'headers'>, urls: OwnUrls): string {
  const host = headers.host?.toLowerCase();
  return urls.find(url => new URL(url).host === host) ?? urls[0];
}
