import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { wireResults } from '../../../lambdas/delivery/representation.ts';

it.each(Object.values(wireResults))('docs/integrating.md tells what the result %s means', result => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/integrating.md'), 'utf8');
  const list = page.slice(page.indexOf('**An attempt** (`resultado`)'), page.indexOf('## 3. Receive'));
  expect(list).toContain(`\`${result}\``);
});
