/**
 * Replaces `node:process` in the bundles. Its import in an ES module reads every property, which opens standard input, lists all of
 * Node's options and costs start-up time.
 */
export const { env, versions } = globalThis.process;
