/** What a proxy can use of a Kubernetes Secret: a key pair, and the CA that it checks clients or servers against. */
export interface TlsSecret {
  /** By their names in the Secret; base64. */
  readonly values: Readonly<Record<string, string>>;
  /** Service accounts whose proxies may have it; absent: those of all in its namespace. */
  readonly serviceAccounts?: readonly string[];
  /** Ids of the clusters whose proxies may have it, once they have proven theirs; absent: all. */
  readonly clusters?: readonly string[];
}

/**
 * The names that are read, in Istio's order: the first of each list that is there counts.
 *
 * @see docs/how-istio-does-it/security.md#names-of-secrets
 */
export const valueNames = {
  certificate: ["cert", "tls.crt"],
  privateKey: ["key", "tls.key"],
  staple: ["tls.ocsp-staple"],
  ca: ["cacert", "ca.crt"],
  revoked: ["crl", "ca.crl"],
} as const;

/** Name of the value with credentials for registries of images, which no proxy is given. */
export const pullSecretValue = ".dockerconfigjson";

export function valueOf({ values }: TlsSecret, part: keyof typeof valueNames): string | undefined {
  const name = valueNames[part].find((one) => Object.hasOwn(values, one));
  return name === undefined ? undefined : values[name];
}

/** Type of the resources that hold secrets. */
export const secretTypeUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/**
 * A secret as Envoy takes it: the key pair, or the CA when that is asked for.
 *
 * @returns undefined when the secret does not have it
 */
export function sdsResource(name: string, secret: TlsSecret, part: "pair" | "ca"): object | undefined {
  const inline = (value: string | undefined) => (value === undefined ? undefined : { inline_bytes: value });
  const base = { "@type": secretTypeUrl, name };
  const revoked = inline(valueOf(secret, "revoked"));
  if (part === "ca") {
    const trusted = inline(valueOf(secret, "ca"));
    if (trusted === undefined) return undefined;
    return { ...base, validation_context: { trusted_ca: trusted, ...(revoked === undefined ? {} : { crl: revoked }) } };
  }
  const chain = inline(valueOf(secret, "certificate"));
  const key = inline(valueOf(secret, "privateKey"));
  const staple = inline(valueOf(secret, "staple"));
  if (chain === undefined || key === undefined) return undefined;
  return {
    ...base,
    tls_certificate: {
      certificate_chain: chain,
      private_key: key,
      ...(staple === undefined ? {} : { ocsp_staple: staple }),
    },
  };
}
