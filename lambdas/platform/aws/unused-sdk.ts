/**
 * Replaces SDK modules that the bundles do not use. Each client has its own request handler and signer (`client-settings.ts`), and no client
 * uses event streams. Any use of a replaced module throws an error.
 */
export const NodeHttpHandler = {
  /** Returns the handler from the client's settings. @throws {Error} if it is missing */
  create(handler: unknown): object {
    if (typeof handler === 'object' && handler !== null && 'handle' in handler) return handler;
    throw omitted('the request handler');
  },
};

/** Always throws an error, because response bodies are already buffers. @throws {Error} */
export function streamCollector(): never {
  throw omitted('the request handler');
}

/** @throws {Error} when constructed */
export class SignatureV4 {
  constructor() {
    throw omitted('the signer');
  }
}

/** @throws {Error} when constructed */
export class EventStreamSerde {
  constructor() {
    throw omitted('event streams');
  }
}

/** @throws {Error} */
export function eventStreamSerdeProvider(): never {
  throw omitted('event streams');
}

function omitted(part: string): Error {
  return new Error(`The bundles omit ${part} of the SDK. To include it, change lib/constructs/bundle.ts.`);
}
