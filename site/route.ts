import { getCollection } from 'astro:content';
import { defineRouteMiddleware } from '@astrojs/starlight/route-data';
import { counterpartOf, type Language, languages } from './pages.ts';

const labels: Record<string, Record<Language, string>> = {
  integrators: { pt: 'Integradores', en: 'Integrators' },
  reference: { pt: 'Referência (em inglês)', en: 'Reference' },
  publishers: { pt: 'Publicadores (em inglês)', en: 'Publishers' },
  operators: { pt: 'Operadores (em inglês)', en: 'Operators' },
  developers: { pt: 'Desenvolvedores (em inglês)', en: 'Developers' },
};

const base = import.meta.env.BASE_URL;
const pages = (await getCollection('docs', ({ id }) => id.includes('/'))).sort(
  (a, b) => Number(a.data.sidebar.order) - Number(b.data.sidebar.order),
);

/** Gives each page the sidebar of its language, and the address of the same page in the other one. */
export const onRequest = defineRouteMiddleware(({ locals: { starlightRoute: route }, site }) => {
  const language = route.id.startsWith('pt') ? 'pt' : 'en';
  const part = partOf(route.id);
  const link = (id: string, label: string) => ({
    type: 'link' as const,
    label,
    href: `${base}${id}/`,
    isCurrent: id === route.id,
    badge: undefined,
    attrs: {},
  });
  // The part that is read is shown whole, the others by their first page.
  route.sidebar = Object.entries(labels).map(([name, { [language]: label }]) => {
    const ofPart = pages.filter(({ id }) => partOf(id) === name && (name !== 'integrators' || id.startsWith(language)));
    if (name !== part) return link(ofPart[0]?.id ?? 'en/reference/webhooks', label);
    const entries = name === 'reference' ? route.sidebar : ofPart.map(({ id, data }) => link(id, data.title));
    return { type: 'group', label, entries, collapsed: false, badge: undefined };
  });

  const other = counterpartOf(route.id);
  route.head = route.head.filter(({ attrs }) => attrs?.rel !== 'alternate');
  const href = new URL(`${base}${other.address}/`, site).href;
  if (counterpartOf(other.address).address === route.id)
    route.head.push({ tag: 'link', attrs: { rel: 'alternate', hreflang: languages[other.language].lang, href } });
});

/** Returns the part of the site that a page belongs to: `developers` of `en/developers/architecture`. */
function partOf(id: string): string {
  const [, part = '', name] = id.split('/');
  return name === undefined ? 'integrators' : part;
}
