import { createHash } from 'node:crypto';
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AstroIntegration } from 'astro';
import { close, createIndex } from 'pagefind';
import { audienceOf } from './pages.ts';
import { searchEntriesIn } from './search.ts';

/** Post-processes the built pages, and creates the search index. */
export const finish: AstroIntegration = {
  name: 'finish',
  hooks: {
    'astro:build:done': async ({ dir }) => {
      const dist = fileURLToPath(dir);
      for (const file of globSync(`${dist}**/*.md`)) rmSync(file); // publicDir also contains the sources of the pages
      const { index } = await createIndex();
      for (const file of globSync(`${dist}**/*.html`)) {
        const audience = audienceOf(file.slice(dist.length));
        const page = readFileSync(file, 'utf8')
          .replace(/<html lang="[^"]*"/, `$& data-audience="${audience}"`)
          // Makes scrolling areas reachable by keyboard. Replaces empty header cells and the headings of examples.
          .replaceAll(/<(table|pre|div(?= class="sl-openapi-operation-method-path))\b/g, '<$1 tabindex="0"')
          .replaceAll('<th></th>', '<td></td>')
          .replaceAll(/<span style="--0:#D6DEEB;--1:#403F53">([^<]*)<\/span>/g, '$1') // the default colour of code
          .replaceAll(/<h5( class="sl-openapi-examples-heading.*?)<\/h5>/g, '<p$1</p>');
        writeFileSync(file, page.replace(/<meta charset[^>]*>|^<!doctype html>(?=<title>)/i, `$&${policyOf(page)}`));
        for (const entry of searchEntriesIn(page)) await index?.addHTMLFile(entry);
      }
      rmSync(`${dist}pagefind`, { recursive: true }); // Starlight's index has only whole pages
      await index?.writeFiles({ outputPath: `${dist}pagefind/plain` });
      await close();
      copyFileSync(`${import.meta.dirname}/exact-match-first.js`, `${dist}pagefind/pagefind.js`);
    },
  },
};

/** Returns the Content Security Policy of a page. It allows only the page's inline scripts and resources from its host. */
function policyOf(page: string): string {
  const scripts = [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  const policy = [
    `default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; img-src 'self' data:`,
    // The search uses WebAssembly. Highlighted code has its colours in `style` attributes.
    `script-src 'self' 'wasm-unsafe-eval' ${[...new Set(scripts)].join(' ')}; style-src 'self' 'unsafe-inline'`,
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">`;
}
