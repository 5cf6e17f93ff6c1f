/** The OpenAPI document of both hosts. */
export function openApiDocument(): object {
  return { openapi: '3.1.1', info: { title: 'Emissor', version: '1.0.0' }, paths: {} };
}
