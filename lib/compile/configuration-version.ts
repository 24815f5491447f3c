import { byCodePoint } from "../base/diagnostic.ts";
import { sha256 } from "../config/canonical-json.ts";
import type { CompatSettings } from "../config/compat/compat-settings.ts";
import type { Config } from "../config/config.ts";
import { isRegistryKind } from "../config/folder/planes.ts";
import type { GatewayApiSettings } from "../config/gateway-api/gateway-api-settings.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../config/kinds/mesh-networks.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { World } from "../mesh/world.ts";

interface Inputs {
  readonly configs: readonly Config[];
  readonly meshConfig: MeshConfig;
  readonly meshNetworks: MeshNetworks;
  readonly gatewayApi: GatewayApiSettings | undefined;
  readonly compat: CompatSettings;
}

/**
 * Hash over the configuration of a world, whatever services and endpoints there are. A status, a resource version or another line of a
 * file changes nothing.
 *
 * @returns 64 hexadecimal digits
 */
export const configurationVersion = ({ gatewayApi, release, switches, ...world }: World, memo: Memo): string => {
  const compat = { ...(release === undefined ? {} : { release }), ...(switches === undefined ? {} : { switches }) };
  const { configs, meshConfig, meshNetworks } = world;
  return ofPlane(memo, { configs, meshConfig, meshNetworks, gatewayApi: gatewayApi?.settings, compat }).version;
};

const ofPlane = query(
  "version of the configuration",
  { gatewayApi: "value", compat: "value" },
  ({ configs, meshConfig, meshNetworks, gatewayApi, compat }: Inputs): { readonly version: string } => {
    const own = configs.filter(({ meta }) => !isRegistryKind(meta.group, meta.kind));
    // In whatever order sources and files bring them.
    const objects = own.map(objectVersion).sort(byCodePoint);
    return { version: sha256(JSON.stringify([objects, meshConfig, meshNetworks, gatewayApi, compat])) };
  },
);

/** Keys that an issuer has changed, and modules behind a tag, are no configuration that somebody wrote. */
const withoutFacts = (field: string, value: unknown): unknown =>
  field === "resolvedJwks" || field === "resolvedSha256" ? undefined : value;

const known = new WeakMap<Config, string>();

/** Hash over what an object says. */
function objectVersion(config: Config): string {
  const before = known.get(config);
  if (before !== undefined) return before;
  const { group, kind, namespace, name, labels, annotations } = config.meta;
  const version = sha256(
    JSON.stringify([group, kind, namespace, name, labels, annotations, config.spec], withoutFacts),
  );
  known.set(config, version);
  return version;
}
