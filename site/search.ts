import { audienceOf } from './pages.ts';

/** Returns an entry for each section and for each table row that starts with code. A reference page is one section. */
export function searchEntriesIn(page: string): { url: string; content: string }[] {
  const [, language, address = '', main = ''] =
    /lang="(.*?)".*?"canonical" href="\w+:..[^/]*(.*?)".*?<main data-pagefind-body.*?>(.*?)<footer/s.exec(page) ?? [];
  // Guides weigh more than the reference. Names and bold words weigh more than other words.
  const [h, weight] = address.includes('/en/reference/') ? ['h1', 0.05] : ['h\\d', 1];
  const entryOf = (names: string[], id = '', rest = '') => {
    const title = names.join(' › ').replaceAll(/<[^>]+>/g, '');
    const html = `<strong>${names.at(-1)}</strong>${rest.replaceAll(/<(\/?)h\d/g, '<$1p')}`;
    const weighted = html.replaceAll('<strong', `$& data-pagefind-weight="${7 * weight}"`);
    const meta = `data-title="${title}" data-pagefind-meta="title[data-title], url:${address}#${id}"`;
    const filter = `data-pagefind-filter="audience:${audienceOf(address)}"`;
    const body = `<body data-pagefind-body ${filter} data-pagefind-weight="${weight}" ${meta}>${weighted}</body>`;
    return { url: address + title, content: `<html lang="${language}">${body}</html>` };
  };
  const sections = [...main.matchAll(RegExp(`<${h} id="([^"]*)"[^>]*>(.*?)</${h}>(.*?)(?=<${h} id=|$)`, 'gs'))];
  const all = `<p data-pagefind-weight="0.05">${main.replaceAll(/<[^>]+>/g, '')}</p>`; // for queries with words from several sections
  return sections.flatMap(([, id, name = '', rest = ''], at) => {
    const names = [...new Set([sections[0]?.[2] ?? '', name])];
    const rows = [...rest.matchAll(/<tr>\s*<td>(<code.*?)<\/td>(.*?)<\/tr>/gs)];
    const entry = entryOf(names, id, at === 0 ? rest + all : rest);
    return [entry, ...rows.map(([, row = '', more]) => entryOf([...names, row], id, more))];
  });
}
