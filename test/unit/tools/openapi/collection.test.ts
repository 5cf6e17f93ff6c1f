import { expect, it } from 'vitest';
import { postmanCollection } from '../../../../tools/openapi/collection.ts';
import { folders, variables } from '../../../../tools/openapi/collection-steps.ts';
import { operations } from '../../../../tools/openapi/operations.ts';

it('the collection has a request for every operation', () => {
  const used = Object.values(folders).flatMap(steps => steps.map(({ operation }) => operation));
  expect([...new Set(used)].sort()).toEqual(operations.map(({ id }) => id).sort());
});

it('its variables are those of the environment', () => {
  const used = [
    ...JSON.stringify(postmanCollection(operations)).matchAll(/\{\{(\w+)\}\}|environment\.[gs]et\('(\w+)'/g),
  ];
  const names = used.map(([, inText, inScript]) => inText ?? inScript);
  expect([...new Set(names)].sort()).toEqual(variables.map(({ key }) => key).sort());
});
