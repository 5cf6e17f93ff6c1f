import { createSecureContext, type SecureContext } from 'node:tls';
import { generate } from 'selfsigned';

/** The certificate authority of a single local run. */
export interface CertificateAuthority {
  /** The certificate (PEM). Function processes trust it through NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  /** Returns the certificate for a name. The authority issues it on the first request. */
  contextFor(name: string): Promise<SecureContext>;
}

/** Creates a certificate authority with new keys (P-256). */
export async function makeCertificateAuthority(): Promise<CertificateAuthority> {
  const authority = await generate([{ name: 'commonName', value: 'Local cloud' }], {
    ...elliptic,
    notBeforeDate: anHourAgo(),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const contexts = new Map<string, Promise<SecureContext>>();

  const issue = async (name: string): Promise<SecureContext> => {
    const leaf = await generate([{ name: 'commonName', value: name.slice(0, 64) }], {
      ...elliptic,
      notBeforeDate: anHourAgo(),
      ca: { key: authority.private, cert: authority.cert },
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      ],
    });
    return createSecureContext({ key: leaf.private, cert: leaf.cert });
  };

  return {
    certificate: authority.cert,
    contextFor: name => {
      const context = contexts.get(name) ?? issue(name);
      contexts.set(name, context);
      return context;
    },
  };
}

const elliptic = { keyType: 'ec', algorithm: 'sha256' } as const;

/** Returns the start of the validity period. The hour allows for slow clocks. */
function anHourAgo(): Date {
  return new Date(Date.now() - 3_600_000);
}
