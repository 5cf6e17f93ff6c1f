import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AstroIntegration } from 'astro';

/** Finishes each page when it is built, before the search index is made of it. */
export const finish: AstroIntegration = {
  name: 'finish',
  hooks: {
    'astro:build:done': ({ dir }) => {
      for (const file of globSync(`${fileURLToPath(dir)}**/*.html`)) {
        const page = readFileSync(file, 'utf8')
          // What scrolls can be reached by the keyboard, and nothing is a heading that heads nothing.
          .replaceAll(/<(table|pre|div(?= class="sl-openapi-operation-method-path))\b/g, '<$1 tabindex="0"')
          .replaceAll('<th></th>', '<td></td>')
          .replaceAll(/<h5( class="sl-openapi-examples-heading.*?)<\/h5>/g, '<p$1</p>')
          .replace(...searchWeight(file));
        writeFileSync(file, page.replace(/<meta charset[^>]*>|^<!doctype html>(?=<title>)/i, `$&${policyOf(page)}`));
      }
    },
  },
};

/** In the search, integrators' pages come first, by headings, then by what rows of tables explain; the reference comes last. */
function searchWeight(file: string): [RegExp, string] {
  const [, part] = /\/en\/(\w+)\/.*\//.exec(file) ?? [];
  if (part === undefined) return [/(<tr>\s*<td)(?=><code)/g, '$1 data-pagefind-weight="4"'];
  return [/data-pagefind-body/, `$& data-pagefind-weight="${part === 'reference' ? 0.05 : 0.3}"`];
}

/** Returns the policy of a page: everything from its own host, and of inline scripts those that it has. */
function policyOf(page: string): string {
  const scripts = [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  const policy = [
    `default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; img-src 'self' data:`,
    // The search is WebAssembly. Highlighted code has its colours in `style` attributes.
    `script-src 'self' 'wasm-unsafe-eval' ${[...new Set(scripts)].join(' ')}; style-src 'self' 'unsafe-inline'`,
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">`;
}
