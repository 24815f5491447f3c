import { createHash } from "node:crypto";
import type { Config } from "../../config/config.ts";
import type {
  AuthenticationPolicy,
  LegacyJwt,
  LegacyMutualTls,
} from "../../config/kinds/legacy/authentication-policy.ts";
import { jwksName } from "../clusters/cluster-name.ts";
import type { HttpFilter, ListenerTls } from "../documents.ts";
import type { LegacyMesh, LegacyPort } from "../legacy-world.ts";
import { resolveHost } from "../resolve-host.ts";
import { withSortedKeys } from "../sorted-keys.ts";

/**
 * The policy in force for a port of a service: the Policy object for it, else one for its whole namespace, else what the
 * port or the mesh says of mutual TLS; undefined where nothing is asked for.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#tls-and-authentication
 */
export function effectivePolicy(
  world: LegacyMesh,
  hostname: string,
  port: Pick<LegacyPort, "name" | "port" | "authenticationPolicy">,
): AuthenticationPolicy | undefined {
  const namespace = hostname.split(".")[1];
  const candidates = world.configs.authenticationPolicies.filter(
    ({ meta, spec }) => meta.namespace === namespace && jwtsOf(spec).every((jwt) => (jwt.jwksUri ?? "") !== ""),
  );
  const own = candidates.find((policy) => targets(policy, hostname, port));
  const found = own ?? candidates.find(({ spec }) => (spec.targets ?? []).length === 0);
  if (found !== undefined) return found.spec;
  const { authenticationPolicy } = port;
  const mode = authenticationPolicy === "INHERIT" ? world.mesh.authPolicy : authenticationPolicy;
  return mode === "MUTUAL_TLS" ? { peers: [{ mtls: {} }] } : undefined;
}

function targets(
  policy: Config<AuthenticationPolicy>,
  hostname: string,
  port: Pick<LegacyPort, "name" | "port">,
): boolean {
  return (policy.spec.targets ?? []).some(
    (target) =>
      resolveHost(policy.meta, { name: target.name }) === hostname &&
      ((target.ports ?? []).length === 0 ||
        (target.ports ?? []).some((of) => (of.name === undefined ? of.number === port.port : of.name === port.name))),
  );
}

/** The first mutual TLS peer; undefined: none is asked for. */
export function mutualTlsOf(policy: AuthenticationPolicy | undefined): LegacyMutualTls | undefined {
  return policy?.peers?.find((peer) => peer.mtls !== undefined)?.mtls;
}

/** Tokens that a policy asks for: of peers, then of origins. */
export function jwtsOf(policy: AuthenticationPolicy | undefined): readonly LegacyJwt[] {
  return [...(policy?.peers ?? []), ...(policy?.origins ?? [])].flatMap(({ jwt }) => (jwt === undefined ? [] : [jwt]));
}

/** Folder of the workload's certificates. */
const certificates = "/etc/certs";

/** Files of a workload's certificate, as listeners and clusters name them. */
export const workloadCertificateFiles = {
  cert_chain_file: `${certificates}/cert-chain.pem`,
  private_key_file: `${certificates}/key.pem`,
  ca_cert_file: `${certificates}/root-cert.pem`,
} as const;

/** TLS of an inbound listener; undefined for plain text. */
export function inboundTls(policy: AuthenticationPolicy | undefined): ListenerTls | undefined {
  const mutual = mutualTlsOf(policy);
  if (mutual === undefined) return undefined;
  return { ...workloadCertificateFiles, require_client_certificate: mutual.allowTls !== true };
}

/** The filters that check what a policy asks for, in order: tokens first. */
export function authenticationFilters(policy: AuthenticationPolicy | undefined): readonly HttpFilter[] {
  const peers = policy?.peers ?? [];
  const origins = policy?.origins ?? [];
  if (policy === undefined || (peers.length === 0 && origins.length === 0)) return [];
  const jwts = jwtsOf(policy);
  const { targets: _targets, ...checked } = policy;
  const locations = Object.fromEntries(jwts.map(({ issuer = "" }) => [issuer, payloadHeader(issuer)]));
  const check: HttpFilter = {
    type: "decoder",
    name: "istio_authn",
    config: withSortedKeys({
      policy: checked,
      ...(jwts.length === 0 ? {} : { jwtOutputPayloadLocations: locations }),
    }),
  };
  if (jwts.length === 0) return [check];
  const config = withSortedKeys({ rules: jwts.map(tokenRule), allowMissingOrFailed: true });
  return [{ type: "decoder", name: "jwt-auth", config }, check];
}

function tokenRule(jwt: LegacyJwt): object {
  const { issuer = "", audiences = [], jwksUri = "", jwtHeaders = [], jwtParams = [] } = jwt;
  const server = keyServer(jwksUri);
  return {
    issuer,
    ...(audiences.length === 0 ? {} : { audiences }),
    remoteJwks: {
      httpUri: { uri: jwksUri, cluster: server === undefined ? "" : jwksName(server.host, server.scheme) },
      cacheDuration: "300.000s",
    },
    forward: true,
    ...(jwtHeaders.length === 0 ? {} : { fromHeaders: jwtHeaders.map((name) => ({ name })) }),
    ...(jwtParams.length === 0 ? {} : { fromParams: jwtParams }),
    forwardPayloadHeader: payloadHeader(issuer),
  };
}

const payloadHeader = (issuer: string): string => `istio-sec-${createHash("sha1").update(issuer).digest("hex")}`;

/** Where the keys of a token's issuer are fetched. */
export interface KeyServer {
  readonly host: string;
  readonly port: number;
  readonly scheme: "http" | "https";
}

/** Reads an address of keys; undefined for a text that is none. */
export function keyServer(jwksUri: string): KeyServer | undefined {
  if (!URL.canParse(jwksUri)) return undefined;
  const { protocol, hostname, port } = new URL(jwksUri);
  const scheme = protocol === "https:" ? "https" : protocol === "http:" ? "http" : undefined;
  if (scheme === undefined) return undefined;
  return { host: hostname, scheme, port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port) };
}
