/** The reason why a request failed. `unreachable`: no route to the receiver's network, or none out of ours. */
export interface NetworkError {
  readonly kind: 'connection' | 'unreachable' | 'tls' | 'internal_error';
  /** The error's code, or a few words where it has none. */
  readonly detail: string;
}

/** The phase in which a request failed: TCP connection, TLS handshake, HTTP. */
export type RequestPhase = 'connect' | 'tls' | 'http';

/** Returns the error's code; its message may quote what the peer sent, and is left out. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Tells local errors, unreachable networks, TLS failures and broken connections apart. */
export function classifyNetworkError(error: unknown, phase: RequestPhase): NetworkError {
  const detail = errorCode(error);
  if (localErrors.has(detail)) return { kind: 'internal_error', detail };
  if (unreachableErrors.has(detail)) return { kind: 'unreachable', detail };
  if (phase === 'connect' || isConnectionCode(detail)) return { kind: 'connection', detail };
  const isTls = phase === 'tls' || /^ERR_(?:TLS|SSL)_/.test(detail) || detail === 'EPROTO';
  return { kind: isTls ? 'tls' : 'connection', detail };
}

/** The function ran out of sockets, memory or ports, or may not connect: no receiver causes that. */
const localErrors: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOBUFS',
  'EADDRNOTAVAIL',
  'EPERM',
  'EACCES',
]);

const unreachableErrors: ReadonlySet<string> = new Set(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'EHOSTDOWN']);

/** Errors of TCP or of the peer's HTTP, which may come during the TLS handshake too. */
function isConnectionCode(code: string): boolean {
  return code.startsWith('HPE_') || ['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'].includes(code);
}
