/**
 * Reports missing packages in one line instead of a stack trace. Packages are missing if "npm ci" has not run since the dependencies
 * changed. The operator's command line and the CDK app need no development dependencies.
 */
const { existsSync } = require('node:fs');
const { basename, join } = require('node:path');
const { dependencies, devDependencies } = require('../package.json');

const isInstalled = name => require.resolve.paths(name).some(folder => existsSync(join(folder, name, 'package.json')));

const needsDependenciesOnly = ['ops.ts', 'app.ts'].includes(basename(process.argv[1] ?? ''));
const needed = Object.keys({ ...dependencies, ...(needsDependenciesOnly ? {} : devDependencies) });
const missing = needed.filter(name => !isInstalled(name));
if (missing.length > 0) {
  const [first, ...others] = missing;
  const names = others.length === 0 ? first : `${first} and ${others.length} more`;
  console.error(`Emissor's dependencies are not installed (${names}). Run "npm ci" in ${join(__dirname, '..')}.`);
  process.exit(1);
}
