/**
 * Caches compiled code on disk. The operator's command line, the local run and the CDK app spend most of their startup time
 * compiling the SDK and the CDK.
 */
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

enableCompileCache(join(__dirname, '../node_modules/.cache/compiled'));
