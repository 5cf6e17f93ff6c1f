import * as plain from './plain/pagefind.js';
export * from './plain/pagefind.js';

/** Searches with Pagefind, and puts first the hits whose name is exactly the query. */
export async function search(term, options) {
  const { results, ...rest } = await plain.search(term, options);
  const titles = await Promise.all(results.slice(0, 20).map(async hit => (await hit.data()).meta.title));
  const isNamed = at => titles[at]?.split(' › ').at(-1).localeCompare(term.trim(), [], { sensitivity: 'base' }) === 0;
  return { ...rest, results: [...new Set([...results.filter((_, at) => isNamed(at)), ...results])] };
}
