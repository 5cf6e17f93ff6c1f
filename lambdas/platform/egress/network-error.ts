import { tooManyBytes } from './byte-budget.ts';

/** The reason why a request failed. */
export interface NetworkError {
  readonly kind: 'timeout' | 'connection' | 'tls' | 'internal_error';
  readonly cause: FailureCause | null;
  /** The error code, for the log. */
  readonly errorCode: string;
}

/** The specific cause of a failure. */
export type FailureCause =
  | ('refused' | 'reset' | 'invalid_response' | 'large_headers' | 'too_many_bytes')
  | ('expired_certificate' | 'other_name' | 'incomplete_chain' | 'self_signed' | 'tls_version')
  | ('unknown_name' | 'no_dns_answer' | 'no_ipv4')
  | ('connecting' | 'no_headers');

/** The phase of a request, which is the TCP connection, the TLS handshake or HTTP. */
export type RequestPhase = 'connect' | 'tls' | 'http';

/**
 * Returns the code of an error, but not its message, which may quote data from the peer. For `EPROTO`, Node.js reports OpenSSL's reason for a
 * failed handshake only in the message. The function then returns the code that Node.js uses for that reason elsewhere.
 */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const [, reason] = (code === 'EPROTO' && /:SSL routines:\w*:([\w /]{1,80}):/.exec(error.message)) || [];
  return reason === undefined ? code : `ERR_SSL_${reason.toUpperCase().replaceAll(/\W/g, '_')}`;
}

/** Classifies an error by kind and cause. */
export function classifyNetworkError(error: unknown, phase: RequestPhase): NetworkError {
  return { ...classify(error, phase), errorCode: errorCode(error) };
}

function classify(error: unknown, phase: RequestPhase): Classification {
  const code = errorCode(error);
  if (code === tooManyBytes) return { kind: phase === 'tls' ? 'tls' : 'connection', cause: 'too_many_bytes' };
  if (code === 'ETIMEDOUT' && phase === 'connect') return { kind: 'timeout', cause: 'connecting' };
  const classification = byCode[code];
  if (classification) return classification;
  if (code.startsWith('HPE_')) return { kind: 'connection', cause: 'invalid_response' };
  const isTls = phase === 'tls' || /^(?:ERR_(?:TLS|SSL)_|EPROTO$)/.test(code);
  return { kind: isTls ? 'tls' : 'connection', cause: null };
}

type Classification = Omit<NetworkError, 'errorCode'>;

/** The function has no free sockets, memory or ports, or is not allowed to connect. Receivers cannot cause such an error. */
const internalError: Classification = { kind: 'internal_error', cause: null };

const unreachable: Classification = { kind: 'connection', cause: null };

const byCode: Readonly<Record<string, Classification>> = {
  EMFILE: internalError,
  ENFILE: internalError,
  ENOMEM: internalError,
  ENOBUFS: internalError,
  EADDRNOTAVAIL: internalError,
  EPERM: internalError,
  EACCES: internalError,
  ENETUNREACH: unreachable,
  ENETDOWN: unreachable,
  EHOSTUNREACH: unreachable,
  EHOSTDOWN: unreachable,
  ETIMEDOUT: unreachable,
  ECONNREFUSED: { kind: 'connection', cause: 'refused' },
  ECONNRESET: { kind: 'connection', cause: 'reset' },
  ECONNABORTED: { kind: 'connection', cause: 'reset' },
  EPIPE: { kind: 'connection', cause: 'reset' },
  HPE_HEADER_OVERFLOW: { kind: 'connection', cause: 'large_headers' },
  CERT_HAS_EXPIRED: { kind: 'tls', cause: 'expired_certificate' },
  ERR_TLS_CERT_ALTNAME_INVALID: { kind: 'tls', cause: 'other_name' },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { kind: 'tls', cause: 'incomplete_chain' },
  UNABLE_TO_GET_ISSUER_CERT: { kind: 'tls', cause: 'incomplete_chain' },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { kind: 'tls', cause: 'incomplete_chain' },
  DEPTH_ZERO_SELF_SIGNED_CERT: { kind: 'tls', cause: 'self_signed' },
  SELF_SIGNED_CERT_IN_CHAIN: { kind: 'tls', cause: 'self_signed' },
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: { kind: 'tls', cause: 'tls_version' },
  ERR_SSL_UNSUPPORTED_PROTOCOL: { kind: 'tls', cause: 'tls_version' },
};
