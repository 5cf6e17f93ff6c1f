/**
 * Keeps compiled code from one start to the next: the operator's command line, the local run and the CDK app spend most
 * of their start on compiling the SDK and the CDK. Where it cannot be kept, nothing is said and nothing is lost but time.
 */
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

enableCompileCache(join(__dirname, '../node_modules/.cache/compiled'));
