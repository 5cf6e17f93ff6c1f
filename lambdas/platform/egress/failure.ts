/** Why an exchange with a receiver broke. `unreachable`: there is no way to its network, or none out of ours. */
export interface Failure {
  readonly kind: 'connection' | 'unreachable' | 'tls' | 'internal_error';
  /** The error's code, or the nearest thing to it. */
  readonly detail: string;
}

/** How far an exchange had come when it broke. */
export type Stage = 'connecting' | 'securing' | 'talking';

/** The error's code; its message may quote what the peer sent, and is left out. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Tells our own faults, networks out of reach, TLS failures and broken connections apart. */
export function classifyFailure(error: unknown, stage: Stage): Failure {
  const detail = codeOf(error);
  if (ownFaults.has(detail)) return { kind: 'internal_error', detail };
  if (unreachable.has(detail)) return { kind: 'unreachable', detail };
  if (stage === 'connecting' || isConnectionCode(detail)) return { kind: 'connection', detail };
  const isTls = stage === 'securing' || /^ERR_(?:TLS|SSL)_/.test(detail) || detail === 'EPROTO';
  return { kind: isTls ? 'tls' : 'connection', detail };
}

/** The function ran out of sockets, memory or ports, or may not connect: no receiver did that. */
const ownFaults: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOBUFS',
  'EADDRNOTAVAIL',
  'EPERM',
  'EACCES',
]);

const unreachable: ReadonlySet<string> = new Set(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'EHOSTDOWN']);

/** What the network or the peer's HTTP did, during the TLS handshake as at any other time. */
function isConnectionCode(code: string): boolean {
  return code.startsWith('HPE_') || ['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'].includes(code);
}
