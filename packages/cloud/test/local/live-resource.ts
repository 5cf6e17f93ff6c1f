import type { LiveResource } from '../../src/local/assembly/resources.ts';

/** Makes a resource of a template, its properties resolved. */
export function liveResource(
  type: LiveResource['type'],
  properties: object,
  { stack = 'App', logicalId = 'Thing' }: { readonly stack?: string; readonly logicalId?: string } = {},
): LiveResource {
  return { stack, logicalId, type, properties: { ...properties } };
}
