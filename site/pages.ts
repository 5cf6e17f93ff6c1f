/** The pages of the site, in the order in which the sidebar shows them. Each address begins with its language: `/pt/erros/`. */

export const languages = {
  pt: { label: 'Português', lang: 'pt-BR' },
  en: { label: 'English', lang: 'en' },
} as const;

export type Language = keyof typeof languages;

/** The pages that are written in both languages, by their names in `docs/pt` and in `docs/en`. The first is the front page. */
export const pairs = [
  ['apresentacao', 'overview'],
  ['README', 'README'],
  ['inicio-rapido', 'quick-start'],
  ['tokens', 'tokens'],
  ['webhooks', 'webhooks'],
  ['recebimento', 'receiving'],
  ['eventos', 'events'],
  ['erros', 'errors'],
  ['entregas', 'deliveries'],
  ['console', 'console'],
  ['clientes-gerados', 'generated-clients'],
  ['producao', 'going-live'],
  ['nada-chegou', 'nothing-arrived'],
] as const;

/** The parts of the site that are in English only: pages by their names in `docs`. A folder stands for its numbered pages. */
export const parts = {
  publishers: ['publishing', '../packages/publisher/README'],
  operators: [
    ...['runbook', 'first-day', 'capacity', 'cost', 'logs', 'permissions', 'site'],
    ...['../SECURITY', '../CHANGELOG'],
  ],
  developers: [
    ...[
      'architecture',
      'local-run',
      'console',
      'delivery',
      'tokens',
      'performance',
      '../CONTRIBUTING',
      'adr/README',
      'adr/',
    ],
    ...['README', 'differences', 'src/local/README', 'src/virtual/README'].map(name => `../packages/cloud/${name}`),
  ],
};

/** Returns the address of a page that is written in both languages, without slashes around it. */
export function addressOf(language: Language, name: string): string {
  if (pairs[0].some(front => front === name)) return language;
  return `${language}/${name === 'README' ? { pt: 'integradores', en: 'integrators' }[language] : name}`;
}

/** Returns the address of the same page in the other language: the front page, if it is written in one only. */
export function counterpartOf(address: string): { language: Language; address: string } {
  const language = address.startsWith('pt') ? 'en' : 'pt';
  const pair = pairs.find(([pt, en]) => [addressOf('pt', pt), addressOf('en', en)].includes(address)) ?? pairs[0];
  return { language, address: addressOf(language, pair[language === 'pt' ? 0 : 1]) };
}
