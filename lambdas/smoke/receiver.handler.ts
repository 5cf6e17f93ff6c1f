import type { HttpResponse } from '../platform/http.ts';

/** Responds to the events of smoke tests at a public function URL. The delivery records show that the events arrived. */
export async function handler(): Promise<HttpResponse> {
  return { statusCode: 204 };
}
