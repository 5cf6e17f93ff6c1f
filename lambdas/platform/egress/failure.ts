/** Why an exchange with a receiver broke. */
export interface Failure {
  readonly kind: 'connection' | 'tls' | 'own_fault';
  /** The error's code, or the nearest thing to it. */
  readonly detail: string;
}

/** The function ran out of sockets, memory or ports, or has no network: no receiver did that. */
const ownFaults: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOBUFS',
  'EADDRNOTAVAIL',
  'ENETUNREACH',
  'ENETDOWN',
  'EPERM',
  'EACCES',
]);

/** What the network or the peer's HTTP did, during the TLS handshake as at any other time. */
const isConnectionCode = (code: string): boolean =>
  code.startsWith('HPE_') ||
  ['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN'].includes(code);

/** The error's code; its message may quote what the peer sent, and is left out. */
export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};

/**
 * Tells our own faults, TLS failures and broken connections apart.
 *
 * @param isSecure - whether the TLS handshake was over: what remains unexplained before that is TLS.
 */
export const classifyFailure = (error: unknown, isSecure: boolean): Failure => {
  const detail = codeOf(error);
  if (ownFaults.has(detail)) return { kind: 'own_fault', detail };
  if (isConnectionCode(detail)) return { kind: 'connection', detail };
  const isTls = !isSecure || /^ERR_(?:TLS|SSL)_/.test(detail) || detail === 'EPROTO';
  return { kind: isTls ? 'tls' : 'connection', detail };
};
