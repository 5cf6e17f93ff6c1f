import { getCollection } from 'astro:content';
import { defineRouteMiddleware, type StarlightRouteData } from '@astrojs/starlight/route-data';
import { counterpartOf, type Language, languages } from './pages.ts';

type Group = Extract<StarlightRouteData['sidebar'][number], { type: 'group' }>;

const labels: Record<string, Record<Language, string>> = {
  integrators: { pt: 'Integradores', en: 'Integrators' },
  reference: { pt: 'Referência (em inglês)', en: 'Reference' },
  publishers: { pt: 'Publicadores (em inglês)', en: 'Publishers' },
  operators: { pt: 'Operadores (em inglês)', en: 'Operators' },
  developers: { pt: 'Desenvolvedores (em inglês)', en: 'Developers' },
};

const base = import.meta.env.BASE_URL.replace(/\/?$/, '/');
const pages = (await getCollection('docs')).sort((a, b) => Number(a.data.sidebar.order) - Number(b.data.sidebar.order));

/** Gives each page the sidebar of its language, and the address of the same page in the other one. */
export const onRequest = defineRouteMiddleware(({ locals: { starlightRoute: route }, url, site }) => {
  const language = route.id.startsWith('pt') ? 'pt' : 'en';
  const group = (part: string, entries: Group['entries']): Group => ({
    type: 'group',
    label: labels[part]?.[language] ?? part,
    entries,
    collapsed: part !== partOf(route.id),
    badge: undefined,
  });
  const ofPart = (part: string) =>
    pages
      .filter(({ id }) => partOf(id) === part && (part !== 'integrators' || id.startsWith(language)))
      .map(({ id, data }) => ({
        type: 'link' as const,
        label: data.title,
        href: `${base}${id}/`,
        isCurrent: id === route.id,
        badge: undefined,
        attrs: id.startsWith(language) ? {} : { lang: 'en' },
      }));
  // The part that is read is shown whole, the others by their first page.
  route.sidebar = Object.keys(labels).map(part => {
    if (part === partOf(route.id) || (part === 'integrators' && language === 'pt'))
      return group(part, part === 'reference' ? route.sidebar : ofPart(part));
    const href = part === 'reference' ? `${base}en/reference/webhooks/` : (ofPart(part)[0]?.href ?? '');
    return {
      type: 'link',
      label: labels[part]?.[language] ?? part,
      href,
      isCurrent: false,
      badge: undefined,
      attrs: {},
    };
  });

  const other = counterpartOf(route.id);
  route.head = route.head.filter(({ attrs }) => attrs?.rel !== 'alternate');
  if (site !== undefined)
    route.head.push({
      tag: 'link',
      attrs: {
        rel: 'alternate',
        hreflang: languages[other.language].lang,
        href: new URL(`${base}${other.address}/`, site).href,
      },
    });
});

/** Returns the part of the site that a page belongs to: `developers` of `en/developers/architecture`. */
function partOf(id: string): string {
  const [, part = '', name] = id.split('/');
  return name === undefined ? 'integrators' : part;
}
