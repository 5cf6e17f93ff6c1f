import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inject } from 'vitest';
import { listen } from '../../tools/support/listen.ts';
import { url } from './address.ts';

export const dist = path.join(import.meta.dirname, '../../site/dist');

const outcomeFile = inject('site');
while (!existsSync(outcomeFile)) await pause(100); // an import of this module waits for the build
if (readFileSync(outcomeFile, 'utf8') !== '') throw new Error(readFileSync(outcomeFile, 'utf8'));

const base = new URL(url).pathname;

/** Returns the paths of all pages on the site, such as `/pt/erros/`. */
export const addresses = () =>
  globSync('**/*.html', { cwd: dist })
    .map(file => `/${file.replace(/index\.html$/, '')}`)
    .sort();

export function read(address: string): string {
  return readFileSync(path.join(dist, address.endsWith('/') ? `${address}index.html` : address), 'utf8');
}

/** Serves the built files under the site's path on a free port of 127.0.0.1. Returns 404 for other paths. */
export async function serve(): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', 'http://localhost').pathname;
    try {
      if (!address.startsWith(`${base}/`)) throw new Error('The path is outside the site.');
      const pathname = address.slice(base.length);
      const file = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      const content = readFileSync(path.join(dist, file));
      response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  return { url: `http://127.0.0.1:${await listen(server)}${base}`, stop: () => server.close() };
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
};
