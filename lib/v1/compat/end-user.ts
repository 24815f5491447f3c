import type { Config } from "../../config/config.ts";
import type { EndUserAuthenticationPolicySpec, EndUserJWT } from "../../config/kinds/legacy/mixer-client.ts";
import { truncated } from "../clusters/cluster-name.ts";
import { objectKey } from "../config-store.ts";
import type { Cluster } from "../documents.ts";
import type { LegacyInstance, V1Alpha3Configs } from "../legacy-world.ts";
import { resolveHost } from "../resolve-host.ts";

/** How users of a service are authenticated, in the store's order: only the first counts. */
function specsFor(
  configs: V1Alpha3Configs | undefined,
  hostname: string,
): readonly Config<EndUserAuthenticationPolicySpec>[] {
  const bound = new Set(
    (configs?.endUserBindings ?? [])
      .filter(({ meta, spec }) => spec.services.some((service) => resolveHost(meta, service) === hostname))
      .flatMap(({ spec }) => spec.policies.map(({ name = "", namespace = "" }) => `${namespace}/${name}`)),
  );
  return (configs?.endUserSpecs ?? []).filter((spec) => bound.has(objectKey(spec)));
}

/** The member of Mixer's service configuration; undefined where nothing is bound. */
export function endUserSpec(configs: V1Alpha3Configs | undefined, hostname: string): object | undefined {
  const [first] = specsFor(configs, hostname);
  if (first === undefined) return undefined;
  return {
    jwts: (first.spec.jwts ?? []).map((jwt) => {
      const server = keyServerOf(jwt);
      return { ...jwt, ...(server === undefined ? {} : { jwksUriEnvoyCluster: server.name }) };
    }),
  };
}

/** The clusters of the servers that keep the keys, one for each address. */
export function endUserClusters(
  configs: V1Alpha3Configs | undefined,
  instances: readonly LegacyInstance[],
  connectTimeoutMs: number,
): readonly Cluster[] {
  const servers = new Map(
    instances
      .flatMap(({ service }) => specsFor(configs, service.hostname))
      .flatMap(({ spec }) => spec.jwts ?? [])
      .flatMap((jwt) => keyServerOf(jwt) ?? [])
      .map((server) => [server.address, server]),
  );
  return [...servers.values()].map(({ name, address, tls }) => ({
    name,
    connect_timeout_ms: connectTimeoutMs,
    type: "strict_dns",
    lb_type: "round_robin",
    hosts: [{ url: `tcp://${address}` }],
    ...(tls ? { ssl_context: {} } : {}),
    circuit_breakers: { default: { max_pending_requests: 10_000, max_requests: 10_000 } },
  }));
}

interface KeyServer {
  readonly name: string;
  readonly address: string;
  readonly tls: boolean;
}

function keyServerOf({ jwksUri = "" }: EndUserJWT): KeyServer | undefined {
  if (!URL.canParse(jwksUri)) return undefined;
  const { protocol, hostname, port } = new URL(jwksUri);
  const tls = protocol === "https:";
  const number = port === "" ? (tls ? "443" : "80") : port;
  return { name: truncated(`jwt.${hostname}|${number}`), address: `${hostname}:${number}`, tls };
}
