import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { publisherKnowledge } from './publisher-knowledge.ts';
import { pythonSource } from './publisher-python.ts';
import { typescriptSource } from './publisher-typescript.ts';

/** Returns the publishers' knowledge of the service's schemas: a source in TypeScript and one in Python, path -> content. */
export function publisherSources(events: EventFormat): readonly (readonly [file: string, source: string])[] {
  const knowledge = publisherKnowledge(events);
  return [
    ['packages/publisher/src/events.ts', typescriptSource(knowledge)],
    ['packages/publisher/python/src/emissor_publisher/events.py', pythonSource(knowledge)],
  ];
}
