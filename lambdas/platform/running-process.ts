/**
 * Replaces `node:process` in the bundles. An import of `node:process` in an ES module reads every property, which opens standard input,
 * lists all options of Node.js and increases the start-up time.
 */
export const { env, versions } = globalThis.process;
