import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AttemptResult } from '../../../lambdas/delivery/delivery.ts';

/** All of them, by their type. */
const results: Record<AttemptResult, true> = {
  entregue: true,
  http: true,
  tempo_esgotado: true,
  conexao: true,
  tls: true,
  dns: true,
  bloqueada: true,
  lenta: true,
  interno: true,
};

it.each(Object.keys(results))('docs/integrating.md tells what the result %s means', result => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/integrating.md'), 'utf8');
  const list = page.slice(page.indexOf('**An attempt** (`resultado`)'), page.indexOf('## 3. Receive'));
  expect(list).toContain(`\`${result}\``);
});
