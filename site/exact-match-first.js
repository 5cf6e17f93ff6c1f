import * as plain from './plain/pagefind.js';
export * from './plain/pagefind.js';

/** Returns no filters for the search window, because the current page determines the audience. */
export const filters = async () => ({});

/** Searches the pages for this page's audience with Pagefind. Results whose name equals the query come first. */
export async function search(term, options) {
  const audience = document.documentElement.dataset.audience;
  const { results, ...rest } = await plain.search(term, { ...options, filters: { audience } });
  const titles = await Promise.all(results.slice(0, 20).map(async hit => (await hit.data()).meta.title));
  const isExactMatch = at => titles[at]?.split(' › ').at(-1).localeCompare(term.trim(), [], { sensitivity: 'base' }) === 0;
  return { ...rest, filters: {}, results: [...new Set([...results.filter((_, at) => isExactMatch(at)), ...results])] };
}
