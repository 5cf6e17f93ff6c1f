/** The pages of the site, in the order of the sidebar. Each address starts with the language, as in `/pt/erros/`. */

export const languages = {
  pt: { label: 'Português', lang: 'pt-BR' },
  en: { label: 'English', lang: 'en' },
} as const;

export type Language = keyof typeof languages;

/** The file names in `docs/pt` and `docs/en` of each page that exists in both languages. The first pair is the front page. */
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

/** The parts of the site for the team, only in English. Each part lists files in `docs` and folders of numbered pages. */
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

/** The Portuguese labels for the entries of the reference. */
export const referenceInPortuguese: Readonly<Record<string, string>> = {
  Overview: 'Visão geral',
  'Get tokens': 'Obter tokens',
  'Revoke a token': 'Revogar um token',
  'Introspect a token': 'Consultar um token',
  'Get the public keys': 'Obter as chaves públicas',
  'Get the authorization server metadata': 'Obter os metadados do servidor de autorização',
  'List webhooks': 'Listar webhooks',
  'Register a webhook': 'Cadastrar um webhook',
  'Get a webhook': 'Consultar um webhook',
  'Replace a webhook': 'Substituir um webhook',
  'Delete a webhook': 'Excluir um webhook',
  'Rotate the signing secret': 'Trocar o segredo',
  'End a suspension': 'Reativar um webhook',
  'Send a test': 'Enviar um teste',
  'List deliveries': 'Listar entregas',
  'Get a delivery': 'Consultar uma entrega',
  'Send a delivery again': 'Reenviar uma entrega',
  'Start a replay': 'Iniciar um reenvio em lote',
  'Get a replay': 'Consultar um reenvio em lote',
  'Cancel a replay': 'Cancelar um reenvio em lote',
  'Get the protected resource metadata': 'Obter os metadados da API',
  'Any event': 'Qualquer evento',
};

/** Returns the audience of a page. Integrators' pages and the team's pages have separate sidebars and searches. */
export function audienceOf(address: string): 'integrators' | 'team' {
  return Object.keys(parts).some(part => address.includes(`en/${part}/`)) ? 'team' : 'integrators';
}

/** Returns the address of a page that exists in both languages, without leading and trailing slashes. */
export function addressOf(language: Language, name: string): string {
  if (pairs[0].some(front => front === name)) return language;
  return `${language}/${name === 'README' ? { pt: 'integradores', en: 'integrators' }[language] : name}`;
}

/** Returns the address of the same page in the other language, or of the front page if there is none. */
export function counterpartOf(address: string): { language: Language; address: string } {
  const language = address.startsWith('pt') ? 'en' : 'pt';
  const pair = pairs.find(([pt, en]) => [addressOf('pt', pt), addressOf('en', en)].includes(address)) ?? pairs[0];
  return { language, address: addressOf(language, pair[language === 'pt' ? 0 : 1]) };
}
