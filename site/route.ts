import { getCollection } from 'astro:content';
import { defineRouteMiddleware, type StarlightRouteData } from '@astrojs/starlight/route-data';
import { audienceOf, counterpartOf, type Language, languages, parts, referenceInPortuguese } from './pages.ts';

const labels = {
  pt: {
    integrators: 'Integradores',
    reference: 'Referência da API (em inglês)',
    team: 'Para a equipe do Emissor (em inglês)',
  },
  en: { integrators: 'Integrators', reference: 'API reference', team: 'For the Emissor team' },
};

type Sidebar = StarlightRouteData['sidebar'];

const base = import.meta.env.BASE_URL;
const pages = (await getCollection('docs', ({ id }) => id.includes('/'))).sort(
  (a, b) => Number(a.data.sidebar.order) - Number(b.data.sidebar.order),
);

/** Adds the sidebar, the links to adjacent pages, and the link to the same page in the other language. */
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
  const group = (label: string, entries: Sidebar, collapsed: boolean) =>
    ({ type: 'group', label, entries, collapsed, badge: undefined }) as const;
  const linksOf = (name: string) => {
    const ofPart = pages.filter(({ id }) => partOf(id) === name && (name !== 'integrators' || id.startsWith(language)));
    return ofPart.map(({ id, data }) => link(id, data.title));
  };
  const { [language]: label } = labels;
  const reference = route.sidebar.flatMap(api =>
    api.type === 'group' ? group(api.label, callsIn(api, language), part !== 'reference') : [],
  );
  route.sidebar =
    audienceOf(`${route.id}/`) === 'team'
      ? [
          link('en/integrators', label.integrators),
          ...Object.keys(parts).map(name => group(capitalised(name), linksOf(name), name !== part)),
        ]
      : [
          group(label.integrators, linksOf('integrators'), part !== 'integrators'),
          group(label.reference, reference, part !== 'reference'),
          link('en/operators/runbook', label.team),
        ];

  if (part !== 'reference') {
    const links = linksOf(part);
    const at = links.findIndex(({ isCurrent }) => isCurrent);
    route.pagination = at < 0 ? { prev: undefined, next: undefined } : { prev: links[at - 1], next: links[at + 1] };
  }

  const other = counterpartOf(route.id);
  route.head = route.head.filter(({ attrs }) => attrs?.rel !== 'alternate');
  const href = new URL(`${base}${other.address}/`, site).href;
  if (counterpartOf(other.address).address === route.id)
    route.head.push({ tag: 'link', attrs: { rel: 'alternate', hreflang: languages[other.language].lang, href } });
});

/** Returns the part of the site that a page belongs to, such as `developers` for `en/developers/architecture`. */
function partOf(id: string): string {
  const [, part = '', name] = id.split('/');
  return name === undefined ? 'integrators' : part;
}

/** Returns the reference links for an API: its overview, operations and events. Omits tag overviews. */
function callsIn(entry: Sidebar[number], language: Language): Sidebar {
  if (entry.type === 'group') return entry.entries.flatMap(each => callsIn(each, language));
  if (entry.href.includes('/tags/')) return [];
  const label = referenceInPortuguese[entry.label] ?? entry.label.replace(/^Event /, 'Evento ');
  return [language === 'en' ? entry : { ...entry, label }];
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
