/**
 * Replaces `node:process` in the bundles. Importing that from an ES module reads every property of the process, which opens
 * its standard input and lists all of Node's options, and costs start-up time.
 */
export const { env, versions } = globalThis.process;
