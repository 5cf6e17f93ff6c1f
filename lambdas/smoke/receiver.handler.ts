import type { HttpResponse } from '../platform/http.ts';

/** Responds to the events of smoke tests at a public function URL. The delivery's record shows that they arrived. */
export async function handler(): Promise<HttpResponse> {
  return { statusCode: 204 };
}
