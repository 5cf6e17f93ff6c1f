import type { FailureCause } from '../platform/egress/network-error.ts';
import type { AttemptResult } from './delivery.ts';

/** The causes of failed attempts: the results that they explain, their word in the API, and the advice to the receiver's owner. */
export const failureCauses = {
  refused: {
    results: ['connection'],
    word: 'recusada',
    en: 'Nothing listens at this port. Start the server, and check the port of the URL and the firewall.',
    pt: 'Nada escuta nesta porta. Inicie o servidor e confira a porta da URL e o firewall.',
  },
  reset: {
    results: ['connection'],
    word: 'reiniciada',
    en: 'The server or a proxy closed the connection before it answered. Look in its log for a crash, a limit or a blocking rule.',
    pt: 'O servidor ou um proxy fechou a conexão antes de responder. Procure no log dele uma queda, um limite ou uma regra de bloqueio.',
  },
  invalid_response: {
    results: ['connection'],
    word: 'resposta_invalida',
    en: 'The answer is not valid HTTP/1.1. Remove malformed headers, and send one length: Content-Length or Transfer-Encoding.',
    pt: 'A resposta não é HTTP/1.1 válido. Remova cabeçalhos malformados e envie um só tamanho: Content-Length ou Transfer-Encoding.',
  },
  large_headers: {
    results: ['connection'],
    word: 'cabecalhos_grandes',
    en: 'The headers of the answer exceed 16 KiB. Send fewer or shorter ones: often they are cookies.',
    pt: 'Os cabeçalhos da resposta passam de 16 KiB. Envie menos, ou mais curtos: muitas vezes são cookies.',
  },
  too_many_bytes: {
    results: ['connection', 'tls'],
    word: 'bytes_demais',
    en: 'The server sent more than an answer needs. Shorten the certificate chain and the headers, and use keys of ordinary size.',
    pt: 'O servidor enviou mais do que uma resposta precisa. Encurte a cadeia de certificados e os cabeçalhos, e use chaves de tamanho comum.',
  },
  expired_certificate: {
    results: ['tls'],
    word: 'certificado_vencido',
    en: 'The certificate, or one that it depends on, has expired. Renew it, and reload the server.',
    pt: 'O certificado, ou um do qual ele depende, venceu. Renove-o e recarregue o servidor.',
  },
  other_name: {
    results: ['tls'],
    word: 'certificado_outro_nome',
    en: 'The certificate is for another name. Install one whose subject alternative names include the host of the URL.',
    pt: 'O certificado é de outro nome. Instale um cujos nomes alternativos (SAN) incluam o host da URL.',
  },
  incomplete_chain: {
    results: ['tls'],
    word: 'cadeia_incompleta',
    en: 'An intermediate certificate is missing, or the authority is not public. Install the full chain of a public authority.',
    pt: 'Falta um certificado intermediário, ou a autoridade não é pública. Instale a cadeia completa de uma autoridade pública.',
  },
  self_signed: {
    results: ['tls'],
    word: 'autoassinado',
    en: 'The certificate is self-signed, or its authority is private. Install one of a public authority.',
    pt: 'O certificado é autoassinado, ou a autoridade não é pública. Instale um de uma autoridade pública.',
  },
  tls_version: {
    results: ['tls'],
    word: 'versao_tls',
    en: 'The server does not offer TLS 1.2 or 1.3. Enable one of them.',
    pt: 'O servidor não oferece TLS 1.2 nem 1.3. Habilite um deles.',
  },
  unknown_name: {
    results: ['dns'],
    word: 'nome_inexistente',
    en: 'The name does not exist in the public DNS. Publish it there, or correct the URL.',
    pt: 'O nome não existe no DNS público. Publique-o lá, ou corrija a URL.',
  },
  no_dns_answer: {
    results: ['dns'],
    word: 'sem_resposta',
    en: 'The name servers of the domain did not answer, or answered with an error. Test them from outside your network.',
    pt: 'Os servidores de nomes do domínio não responderam, ou responderam com erro. Teste-os de fora da sua rede.',
  },
  no_ipv4: {
    results: ['dns'],
    word: 'sem_ipv4',
    en: 'The name has no IPv4 address. Add an A record.',
    pt: 'O nome não tem endereço IPv4. Acrescente um registro A.',
  },
  connecting: {
    results: ['timeout'],
    word: 'ao_conectar',
    en: 'The server did not accept a connection in time. Let connections from any address through the firewall.',
    pt: 'O servidor não aceitou uma conexão a tempo. Libere no firewall conexões de qualquer endereço.',
  },
  no_headers: {
    results: ['timeout'],
    word: 'sem_cabecalhos',
    en: 'The headers of the answer did not come in time. Answer before you work. If your program saw no request, the TLS handshake did not end: check the load balancer and the proxies.',
    pt: 'Os cabeçalhos da resposta não chegaram a tempo. Responda antes de trabalhar. Se o seu programa não viu a requisição, o handshake TLS não terminou: confira o balanceador e os proxies.',
  },
} as const satisfies Readonly<Record<FailureCause, Row>>;

/** Returns what the receiver's owner can do about a cause, by its word in the API; `undefined` for another word. */
export function adviceOn(word: string | null): Readonly<Record<'en' | 'pt', string>> | undefined {
  return Object.values(failureCauses).find(cause => cause.word === word);
}

interface Row {
  readonly results: readonly AttemptResult[];
  readonly word: string;
  readonly en: string;
  readonly pt: string;
}
