/**
 * Replaces SDK modules that the bundles do not use: event streams, and the request handler and signer, because each client has its own
 * (`client-settings.ts`). Any use of these throws an error.
 */
export const NodeHttpHandler = {
  /** Returns the handler of the client's settings. @throws {Error} if it is missing */
  create(given: unknown): object {
    if (typeof given === 'object' && given !== null && 'handle' in given) return given;
    throw leftOut('the request handler');
  },
};

/** Always throws: a response body is already one buffer. @throws {Error} */
export function streamCollector(): never {
  throw leftOut('the request handler');
}

/** @throws {Error} when constructed */
export class SignatureV4 {
  constructor() {
    throw leftOut('the signer');
  }
}

/** @throws {Error} when constructed */
export class EventStreamSerde {
  constructor() {
    throw leftOut('event streams');
  }
}

/** @throws {Error} */
export function eventStreamSerdeProvider(): never {
  throw leftOut('event streams');
}

function leftOut(what: string): Error {
  return new Error(`The bundles leave out ${what} of the SDK: see lib/constructs/bundle.ts.`);
}
