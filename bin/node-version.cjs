/**
 * Says in one line that Node is too old, or that dependencies are missing. CommonJS and plain JavaScript, because a Node
 * that is too old cannot even load the TypeScript entries: `npm start`, `npm run ops` and the CDK preload this with
 * --require. Those who start an entry without npm get it by its import. Developers' programs go without.
 */
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Emissor needs Node 24 or newer, but this is ${process.version}. Run "npm ci" (with its install scripts): it brings Node 24 for "npm start" and "npm run ops".`,
  );
  process.exit(1);
}
require('./dependencies.cjs');
require('./compile-cache.cjs');
require('./loopback.cjs');
