import type { HttpResponse } from '../platform/http.ts';

/** Answers the events of smoke tests, at a function URL that anybody may call. The delivery's record shows that they arrived. */
export async function handler(): Promise<HttpResponse> {
  return { statusCode: 204 };
}
