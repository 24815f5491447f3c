import type { Config } from "../config.ts";
import type { JWTRule, RequestAuthentication } from "./request-authentication.ts";

/**
 * Annotation of a RequestAuthentication by which its proxies fetch keys by themselves from hosts outside of the mesh: the issuers of its
 * rules, separated by commas, or `*` for all. Its kind has no field for it, and its clusters would drop one; Istio's own choice
 * (`PILOT_JWT_ENABLE_REMOTE_JWKS`) is one for a whole mesh.
 */
export const remoteKeysAnnotation = "portolan.dev/remote-jwks";

/** Whom proxies ask for keys. */
export interface KeyServer {
  readonly host: string;
  readonly port: number;
}

/** Whether the proxies of a rule are to fetch its keys. Without a URL there is nothing that they could fetch. */
export function isLeftToProxies({ meta }: Pick<Config, "meta">, { jwks, jwksUri, issuer }: JWTRule): boolean {
  const written = meta.annotations[remoteKeysAnnotation];
  if (written === undefined || meta.kind !== "RequestAuthentication" || jwks || jwksUri === undefined) return false;
  const issuers = written.split(",").map((one) => one.trim());
  return issuers.includes("*") || (issuer !== undefined && issuers.includes(issuer));
}

/** Who is asked for the keys of a rule that is left to its proxies; undefined for any other rule, and for one over clear text. */
export function keyServerOf(policy: Config<RequestAuthentication>, rule: JWTRule): KeyServer | undefined {
  const url = isLeftToProxies(policy, rule) ? URL.parse(rule.jwksUri ?? "") : null;
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "") return undefined;
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port === "" ? 443 : Number(url.port) };
}
