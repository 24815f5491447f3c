/** Where a secret lies. */
export interface SecretKey {
  readonly namespace: string;
  readonly name: string;
}

/** What the SDS name of a credential asks for. */
export interface SecretQuestion {
  /** undefined: the asking proxy's. */
  readonly namespace: string | undefined;
  readonly name: string;
  /** The CA of the secret, and not its key pair. */
  readonly ca: boolean;
  /** Named as a Gateway of the Gateway API names it, which may be granted one of another namespace. */
  readonly isOfGateway: boolean;
}

const caSuffix = "-cacert";

/**
 * Reads `kubernetes://<name>`, `kubernetes://<namespace>/<name>` and `kubernetes-gateway://<namespace>/<name>`, with `-cacert` at
 * the end for the CA.
 *
 * @returns undefined for any other name
 */
export function readSecretName(text: string): SecretQuestion | undefined {
  const [, kind = "", first = "", second] =
    /^(kubernetes|kubernetes-gateway):\/\/([a-z0-9][a-z0-9.-]{0,252})(?:\/([a-z0-9][a-z0-9.-]{0,252}))?$/.exec(text) ??
    [];
  if (kind === "" || (kind === "kubernetes-gateway" && second === undefined)) return undefined;
  const name = second ?? first;
  const ca = name.endsWith(caSuffix) && name !== caSuffix;
  return {
    namespace: second === undefined ? undefined : first,
    name: ca ? name.slice(0, -caSuffix.length) : name,
    ca,
    isOfGateway: kind === "kubernetes-gateway",
  };
}

/** Name of a secret that holds nothing but the CA of another. */
export const caSecretName = (name: string): string => name + caSuffix;
