/**
 * Stands in for `node:process` in the bundles. An ES module's import of that one reads every property of the process, and
 * with them opens its standard input and lists all of Node's options, which costs start-up time.
 */
export const { env, versions } = globalThis.process;
