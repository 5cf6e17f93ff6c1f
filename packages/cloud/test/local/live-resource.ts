import type { LiveResource } from '../../src/local/assembly/resources.ts';

/** Creates a resource with resolved properties. */
export function liveResource(type: LiveResource['type'], properties: object, logicalId = 'Thing'): LiveResource {
  return { stack: 'App', logicalId, name: `App-${logicalId}`, type, properties };
}
