import { execFileSync } from 'node:child_process';
import { url } from './built.ts';

/** Builds the site that the tests look at, as it would be read at an address of its own. */
export function setup(): void {
  execFileSync(process.execPath, ['site/site.ts', '--build-only', '--url', url], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
