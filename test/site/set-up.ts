import { execFileSync } from 'node:child_process';

/** Builds the site that the tests look at, as it would be read at an address of its own. */
export function setup(): void {
  execFileSync(process.execPath, ['site/site.ts', '--build-only', '--url', 'https://docs.example.com'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
