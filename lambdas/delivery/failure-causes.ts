import type { FailureCause } from '../platform/egress/network-error.ts';
import type { AttemptResult } from './delivery.ts';

/** The causes of failed attempts, each with the results it explains, its name in the API, and advice for the receiver's owner. */
export const failureCauses = {
  refused: {
    results: ['connection'],
    word: 'recusada',
    en: 'No server is listening on this port. Start the server, and check the port in the URL and the firewall.',
  },
  reset: {
    results: ['connection'],
    word: 'reiniciada',
    en: 'The server or a proxy closed the connection before it sent a response. Check its log for a crash, a limit or a blocking rule.',
  },
  invalid_response: {
    results: ['connection'],
    word: 'resposta_invalida',
    en: 'The response is not valid HTTP/1.1. Remove malformed headers, and send either Content-Length or Transfer-Encoding.',
  },
  large_headers: {
    results: ['connection'],
    word: 'cabecalhos_grandes',
    en: 'The response headers exceed 16 KiB. Send fewer or shorter headers, especially cookies.',
  },
  too_many_bytes: {
    results: ['connection', 'tls'],
    word: 'bytes_demais',
    en: 'The server sent too many bytes. Shorten the certificate chain and the headers, and use keys of standard size.',
  },
  expired_certificate: {
    results: ['tls'],
    word: 'certificado_vencido',
    en: 'The certificate, or another certificate in its chain, has expired. Renew it, and reload the server.',
  },
  other_name: {
    results: ['tls'],
    word: 'certificado_outro_nome',
    en: 'The certificate is for another name. Install a certificate that lists the host of the URL as a subject alternative name.',
  },
  incomplete_chain: {
    results: ['tls'],
    word: 'cadeia_incompleta',
    en: 'An intermediate certificate is missing, or the certificate authority is not public. Install the full chain of a public authority.',
  },
  self_signed: {
    results: ['tls'],
    word: 'autoassinado',
    en: 'The certificate is self-signed, or its certificate authority is private. Install a certificate from a public authority.',
  },
  tls_version: {
    results: ['tls'],
    word: 'versao_tls',
    en: 'The server does not offer TLS 1.2 or 1.3. Enable one of them.',
  },
  unknown_name: {
    results: ['dns'],
    word: 'nome_inexistente',
    en: 'The host name does not exist in the public DNS. Add a DNS record, or correct the URL.',
  },
  no_dns_answer: {
    results: ['dns'],
    word: 'sem_resposta',
    en: 'The name servers of the domain did not respond, or returned an error. Test them from outside your network.',
  },
  no_ipv4: {
    results: ['dns'],
    word: 'sem_ipv4',
    en: 'The host name has no IPv4 address. Add an A record.',
  },
  connecting: {
    results: ['timeout'],
    word: 'ao_conectar',
    en: 'The server did not accept a connection in time. Allow connections from any address in the firewall.',
  },
  no_headers: {
    results: ['timeout'],
    word: 'sem_cabecalhos',
    en: 'The response headers did not arrive in time. Respond before you process the event. If your program received no request, check the load balancer and the proxies, because the TLS handshake may not have finished.',
  },
} as const satisfies Readonly<Record<FailureCause, Row>>;

interface Row {
  readonly results: readonly AttemptResult[];
  readonly word: string;
  readonly en: string;
}
