/**
 * Replaces what the SDK imports and no function uses, in the bundles: its request handler and its signer, since each client is given
 * ours (`client-settings.ts`), and its event streams, which no operation called here has. Whatever asks for one of them throws.
 */
export const NodeHttpHandler = {
  /** Returns the handler that the client was given. @throws {Error} when it was given none */
  create(given: unknown): object {
    if (typeof given === 'object' && given !== null && 'handle' in given) return given;
    throw leftOut('the request handler');
  },
};

/** An answer's body comes in one piece, which nothing has to collect. @throws {Error} */
export function streamCollector(): never {
  throw leftOut('the request handler');
}

/** @throws {Error} when one is made */
export class SignatureV4 {
  constructor() {
    throw leftOut('the signer');
  }
}

/** @throws {Error} when one is made */
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
