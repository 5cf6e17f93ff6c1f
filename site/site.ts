import { statSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { run } from './run.ts';

/** Implements `npm run site`. Installs the site's dependencies, builds the site into `site/dist`, and serves it on 127.0.0.1. */
const { buildOnly, port, repository, url } = new Command('npm run site --')
  .description('Builds the documentation site, and serves it on this computer.')
  .option('--build-only', 'build into site/dist without serving it')
  .option('--port <number>', 'the port to serve the site on', portOf, '4321')
  .option('--url <address>', 'the public URL of the site, such as https://docs.example.com/emissor', value => {
    if (!/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
      throw new InvalidArgumentError('The URL must start with https:// or http://.');
    return value;
  })
  .option('--repository <address>', 'the URL of the repository, for links to files that are not on the site')
  .parse()
  .opts<{ buildOnly?: true; port: string; repository?: string; url?: string }>();

const env = {
  ...process.env,
  ASTRO_TELEMETRY_DISABLED: '1',
  NODE_ENV: 'production', // another value could result in a site without search
  EMISSOR_SITE_URL: (url ?? `http://127.0.0.1:${port}`).replace(/\/?$/, '/'),
  ...(repository && { EMISSOR_REPOSITORY: repository.replace(/\/$/, '') }),
};

process.chdir(import.meta.dirname);
const lockFile = statSync('node_modules/.package-lock.json', { throwIfNoEntry: false });
// No dependency needs its install script.
if (!lockFile || lockFile.mtimeMs < statSync('package-lock.json').mtimeMs)
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], env);
const astro = (...parameters: string[]) =>
  run(process.execPath, ['node_modules/astro/bin/astro.mjs', ...parameters], env);
await astro('build');
if (!buildOnly) await astro('preview', '--host', '127.0.0.1', '--port', port);

function portOf(value: string): string {
  if (/^\d{1,5}$/.test(value)) return value;
  throw new InvalidArgumentError('The port must be a number up to 65535.');
}
