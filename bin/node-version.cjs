/**
 * Reports in one line that Node is too old or that dependencies are missing. This file is CommonJS and plain JavaScript, because old
 * versions of Node cannot load the TypeScript entry points. `npm start`, `npm run ops` and the CDK preload this file with --require. The entry
 * points also import it, in case they are started without npm.
 */
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Emissor requires Node 24 or newer, but this is ${process.version}. Run "npm ci" (without --omit=optional). It installs Node 24 for "npm start" and "npm run ops".`,
  );
  process.exit(1);
}
require('./dependencies.cjs');
require('./compile-cache.cjs');
require('./loopback.cjs');
