/** The languages of the pages. */
export type Language = 'pt' | 'en';

/** The texts of the pages in one language. */
export type Texts = Readonly<ReturnType<typeof makeTexts>>;

/** Chooses between the same text in English and in Portuguese. */
export type Say = (english: string, portuguese: string) => string;

/** Returns the function that chooses the text of a language. Texts of a single page stand on that page. */
export function sayingIn(language: Language): Say {
  return (english, portuguese) => (language === 'pt' ? portuguese : english);
}

/** Returns what several pages say, in a language. */
export function textsOf(language: Language): Texts {
  return makeTexts(sayingIn(language));
}

/** Returns the text for a word of the wire; `undefined` for one that these pages do not know. */
export function textFor(texts: Texts, about: 'result' | 'state' | 'word', word: string): string | undefined {
  const known: Readonly<Record<string, string | undefined>> = texts;
  return known[`${about}_${word}`];
}

/** Returns the first of the two languages that a browser asks for; English where it asks for neither. */
export function languageOf(acceptLanguage = ''): Language {
  const asked = acceptLanguage.slice(0, 1_024).toLowerCase().split(',');
  return asked.map(part => part.trim().slice(0, 2)).find(word => word === 'pt' || word === 'en') === 'pt' ? 'pt' : 'en';
}

function makeTexts(say: Say) {
  return {
    panel: say('panel', 'painel'),
    account: say('Account', 'Conta'),
    webhooks: say('Webhooks', 'Webhooks'),
    deliveries: say('Deliveries', 'Entregas'),
    delivery: say('Delivery', 'Entrega'),
    find: say('Find', 'Procurar'),
    skip: say('Skip to the content', 'Ir para o conteúdo'),
    renewed: say('Read at', 'Lido às'),
    kept: say('Still as read at', 'Ainda como lido às'),
    notRenewed: say(
      'Could not be read anew. It is tried again; what you see was read at',
      'Não foi possível ler de novo. Outra tentativa vem; o que você vê foi lido às',
    ),
    signOut: say('Sign out', 'Sair'),
    findById: say('Find an id  /', 'Procurar um id  /'),
    otherLanguage: say('Português', 'English'),
    unread: say('Could not be read', 'Não foi possível ler'),
    event: say('Event', 'Evento'),
    state: say('State', 'Estado'),
    since: say('Since', 'Desde'),
    address: say('Receiver', 'Receptor'),
    created: say('Registered', 'Cadastrado'),
    updated: say('Changed', 'Alterado'),
    authorization: say('Authorization', 'Authorization'),
    set: say('set', 'definido'),
    notSet: say('not set', 'não definido'),
    accepted: say('Accepted', 'Aceita'),
    attempts: say('Attempts', 'Tentativas'),
    lastResult: say('Last result', 'Último resultado'),
    nextAttempt: say('Next attempt', 'Próxima tentativa'),
    id: say('Id', 'Id'),
    reactivate: say('Reactivate', 'Reativar'),
    resend: say('Send again', 'Reenviar'),
    copy: say('Copy', 'Copiar'),
    cancel: say('Cancel', 'Cancelar'),
    verdict: say('Verdict', 'Veredito'),
    noAttempt: say('No attempt was made yet.', 'Nenhuma tentativa foi feita ainda.'),
    body: say('Body', 'Corpo'),
    answered: say('answered', 'respondeu'),
    noAnswer: say('no answer was kept', 'nenhuma resposta foi guardada'),
    word_ativo: say('Active', 'Ativo'),
    word_suspenso: say('Suspended', 'Suspenso'),
    word_pendente: say('Waiting', 'Pendente'),
    word_entregue: say('Delivered', 'Entregue'),
    word_falhou: say('Failed', 'Falhou'),
    word_retida: say('Held', 'Retida'),
    word_cancelada: say('Cancelled', 'Cancelada'),
    entryTitle: say('Open Emissor', 'Abrir o Emissor'),
    entryLead: say(
      'Use the link from the terminal. It is good once, for an hour; press Enter there for another one.',
      'Use o link do terminal. Ele vale uma vez, por uma hora; tecle Enter lá para obter outro.',
    ),
    token: say('Token of the link', 'Token do link'),
    enter: say('Open', 'Abrir'),
    refused: say('This did not work', 'Isto não funcionou'),
    usedToken: say(
      'This link was used already, is older than an hour, or is wrong. Press Enter in the terminal for a new one.',
      'Este link já foi usado, tem mais de uma hora ou está errado. Tecle Enter no terminal para obter outro.',
    ),
    noSession: say(
      'This window has no session: it was signed out, or nobody clicked for an hour. Press Enter in the terminal and open the new link.',
      'Esta janela não tem sessão: ela foi encerrada, ou ninguém clicou por uma hora. Tecle Enter no terminal e abra o novo link.',
    ),
    restarted: say(
      'What served this page has ended: it was started anew. Press Enter in its terminal and open the new link.',
      'O programa desta página terminou: ele foi iniciado de novo. Tecle Enter no terminal e abra o novo link.',
    ),
    notFoundTitle: say('Not found', 'Não encontrado'),
    notFound: say('There is no such page.', 'Esta página não existe.'),
    notThere: say('That is not there, or is past its time.', 'Isso não existe ou já passou do prazo.'),
    otherSite: say(
      'This request came from another site. Nothing was changed.',
      'Esta requisição veio de outro site. Nada foi alterado.',
    ),
    badForm: say(
      'The form could not be read. Nothing was changed.',
      'O formulário não pôde ser lido. Nada foi alterado.',
    ),
    unreachable: say('It could not be read', 'Não foi possível ler'),
    state_pendente: say('It waits for its next attempt.', 'Espera pela próxima tentativa.'),
    state_entregue: say('The receiver took it.', 'O receptor a aceitou.'),
    state_falhou: say(
      'All attempts are used up, or ten days are over.',
      'As tentativas acabaram, ou passaram dez dias.',
    ),
    state_retida: say(
      'It is held: its webhook was suspended. Reactivate it, then send it again.',
      'Está retida: o webhook foi suspenso. Reative-o e reenvie.',
    ),
    state_cancelada: say(
      'It was cancelled: its webhook was deleted, or registered anew; of a test, also: an operator suspended its webhook.',
      'Foi cancelada: o webhook foi excluído ou cadastrado de novo; de um teste, também: um operador suspendeu o webhook.',
    ),
    result_entregue: say('delivered', 'entregue'),
    result_http: say('refused', 'recusada'),
    result_tempo_esgotado: say('no answer in time', 'sem resposta a tempo'),
    result_conexao: say('connection failed', 'a conexão falhou'),
    result_tls: say('TLS failed', 'o TLS falhou'),
    result_dns: say('the name does not resolve', 'o nome não resolve'),
    result_bloqueada: say('the address is not public', 'o endereço não é público'),
    result_lenta: say('slow: tried again at once with more time', 'lenta: repetida em seguida com mais tempo'),
    result_interno: say('a fault of our own, not charged', 'falha nossa, não conta'),
  };
}
