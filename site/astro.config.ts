import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import starlightOpenAPI, { openAPISidebarGroups } from 'starlight-openapi';
import { finish } from './finish.ts';
import { languages } from './pages.ts';
import { referenceOf } from './reference.ts';

const { origin: site, pathname: base } = new URL(process.env.EMISSOR_SITE_URL ?? '');

const reference = (name: string, label: string) => ({
  base: `en/reference/${name}`,
  schema: referenceOf(name, base),
  sidebar: { label },
});

/** The Portuguese texts that Starlight lacks, and a bilingual text for missing pages. */
const texts = {
  'pt-BR': {
    'pagefind.clear_search': 'Limpar',
    'pagefind.load_more': 'Mostrar mais',
    'pagefind.zero_results': 'Nada encontrado para [SEARCH_TERM]',
    'pagefind.one_result': '[COUNT] resultado para [SEARCH_TERM]',
    'pagefind.many_results': '[COUNT] resultados para [SEARCH_TERM]',
    'pagefind.searching': 'Procurando [SEARCH_TERM]',
  },
  en: {
    '404.text': `This page does not exist. <a href="${base}en/">Start here</a>.
      <p lang="pt-BR">Esta página não existe. <a href="${base}pt/">Comece aqui</a>.</p>`,
  },
};

export default defineConfig({
  publicDir: '../docs', // also copies the OpenAPI documents, samples and pictures
  site,
  base,
  trailingSlash: 'always',
  vite: { build: { assetsInlineLimit: 0 } },
  redirects: { '/': `${base}pt/` },
  integrations: [
    starlight({
      title: 'Emissor',
      favicon: '/pictures/icon.svg',
      // The root language has no pages. Pages of a default language would also appear at the addresses of the other languages.
      defaultLocale: 'root',
      locales: { root: languages.en, ...languages },
      sidebar: openAPISidebarGroups,
      customCss: ['./site.css'],
      components: { LanguageSelect: './LanguageSelect.astro' },
      pagefind: { ranking: { metaWeights: { title: 0, url: 0 } } },
      plugins: [
        starlightOpenAPI([reference('auth', 'Tokens'), reference('webhooks', 'Webhooks')]),
        {
          name: 'pages',
          hooks: {
            // Runs after the reference has added its entries to the sidebar.
            'config:setup': ({ addRouteMiddleware: add }) => add({ entrypoint: './route.ts', order: 'post' }),
            'i18n:setup': ({ injectTranslations: add }) => add(texts),
          },
        },
      ],
    }),
    finish,
  ],
});
