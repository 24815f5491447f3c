import { kindText } from "../../../lib/base/diagnostic.ts";
import { readFiles, type SourceFile } from "../../../lib/config/folder/directory.ts";
import { groupVersion } from "../../../lib/config/values/group-version.ts";
import type { NamedProxy } from "../../named-proxy.ts";
import { randomDestinationRule } from "./destination-rules.ts";
import { createDice, type Dice } from "./dice.ts";
import { randomEnvoyFilter } from "./envoy-filters.ts";
import { randomProxyConfig, randomTelemetry, randomTrafficExtension, randomWasmPlugin } from "./extensions.ts";
import {
  gatewaySurroundings,
  randomBackendPolicy,
  randomGatewayClass,
  randomGRPCRoute,
  randomHTTPRoute,
  randomKubernetesGateway,
  randomListenerSet,
  randomReferenceGrant,
  randomStreamRoute,
} from "./gateway-api.ts";
import { ingressClass, randomGateway, randomIngress, randomSidecar } from "./gateways.ts";
import {
  randomAuthenticationPolicy,
  randomClusterRbacConfig,
  randomMeshPolicy,
  randomServiceRole,
  randomServiceRoleBinding,
} from "./legacy-policies.ts";
import { randomMeshConfig, randomProxySettings } from "./mesh-configs.ts";
import { randomAuthorizationPolicy, randomPeerAuthentication, randomRequestAuthentication } from "./policies.ts";
import { gatewayApplication, randomApplication, randomServiceEntry, randomWorkloadEntry } from "./registry-objects.ts";
import { randomDelegate, randomVirtualService } from "./virtual-services.ts";
import { labels, type Manifest, serviceNames, workloadNamespaces } from "./vocabulary.ts";

/** What an operator may have written, all of it accepted by the schemas, and proxies besides those of the pods. */
export interface RandomSource {
  readonly seed: number;
  readonly manifests: readonly Manifest[];
  readonly meshConfig: object | undefined;
  readonly proxies: readonly NamedProxy[];
  /** How many objects were made and refused, by kind. */
  readonly refused: Readonly<Record<string, number>>;
}

type Maker = (dice: Dice, name: string) => Manifest;

/** The more often a kind is listed, the more of it a world has. */
const makers: readonly Maker[] = [
  ...[randomVirtualService, randomVirtualService, randomVirtualService, randomVirtualService],
  ...[randomDestinationRule, randomDestinationRule, randomDestinationRule],
  ...[randomServiceEntry, randomServiceEntry, randomGateway, randomGateway, randomSidecar],
  ...[randomDelegate, randomWorkloadEntry, randomIngress],
  ...[randomPeerAuthentication, randomAuthorizationPolicy, randomAuthorizationPolicy, randomRequestAuthentication],
  ...[randomAuthenticationPolicy, randomServiceRole, randomServiceRoleBinding],
  ...[randomTelemetry, randomTelemetry, randomWasmPlugin, randomTrafficExtension, randomProxyConfig],
  randomEnvoyFilter,
];

/** They mean something together only: a world has many of them, or none. */
const gatewayApiMakers: readonly Maker[] = [
  ...[randomHTTPRoute, randomHTTPRoute, randomHTTPRoute, randomHTTPRoute, randomKubernetesGateway],
  ...[randomGRPCRoute, randomStreamRoute, randomStreamRoute, randomListenerSet, randomGatewayClass],
  ...[randomReferenceGrant, randomBackendPolicy],
];

/** The source of a seed, the same every time. */
export function randomSource(seed: number): RandomSource {
  const dice = createDice(seed);
  const refused: Record<string, number> = {};
  const accepted = (make: () => Manifest): readonly Manifest[] => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const made = make();
      if (isAccepted({ file: "object.yaml", text: JSON.stringify(made) })) return [made];
      refused[made.kind] = (refused[made.kind] ?? 0) + 1;
    }
    return [];
  };
  const services = workloadNamespaces.flatMap((namespace) => serviceNames.map((name) => [name, namespace] as const));
  const applications = dice
    .some(services, 2, 6)
    .flatMap(([name, namespace], index) => randomApplication(dice, name, namespace, index));
  const objects = Array.from({ length: 4 + dice.int(14) }, (_, index) => {
    const maker = dice.pick(makers);
    return accepted(() => maker(dice, `object-${index}`));
  }).flat();
  const legacy = dice.chance(40) ? legacyObjects(dice).flatMap((make) => accepted(make)) : [];
  // Dice of their own, so that what they are thrown for changes nothing of the rest.
  const gatewayDice = createDice(seed + 500_000);
  const gatewayApi = gatewayDice.chance(40) ? gatewayApiObjects(gatewayDice).flatMap((make) => accepted(make)) : [];
  const meshConfig = dice.chance(60) ? acceptedMeshConfig(dice, refused) : undefined;
  const manifests = unique([
    ...applications,
    ...gatewayApplication(dice),
    ingressClass,
    ...objects,
    ...legacy,
    ...gatewayApi,
  ]);
  return { seed, manifests, meshConfig, proxies: namedProxies(dice), refused };
}

/** Roles mean something only where RBAC is on, and few worlds would have all three by chance. */
function legacyObjects(dice: Dice): readonly (() => Manifest)[] {
  return [
    ...(dice.chance(75) ? [() => randomClusterRbacConfig(dice)] : []),
    ...(dice.chance(30) ? [() => randomMeshPolicy(dice)] : []),
    ...dice.list(1, 3, () => () => randomServiceRole(dice)),
    ...[1, 2, 3].map((index) => () => randomServiceRoleBinding(dice, `binding-${index}`)),
    ...dice.list(0, 2, () => () => randomAuthenticationPolicy(dice, `legacy-${dice.int(100)}`)),
  ];
}

function gatewayApiObjects(dice: Dice): readonly (() => Manifest)[] {
  return [
    ...gatewaySurroundings(dice).map((made) => () => made),
    () => randomKubernetesGateway(dice),
    ...dice
      .list(2, 10, () => dice.int(1000))
      .map((at) => {
        const maker = dice.pick(gatewayApiMakers);
        return () => maker(dice, `route-${at % 20}`);
      }),
  ];
}

/** The source as the files of a folder, one for each object. */
export function filesOf({ manifests, meshConfig }: RandomSource): readonly SourceFile[] {
  return [
    ...(meshConfig === undefined ? [] : [{ file: "mesh.yaml", text: JSON.stringify(meshConfig) }]),
    ...manifests.map((manifest) => ({ file: `${keyOf(manifest)}.yaml`, text: JSON.stringify(manifest) })),
  ];
}

export const keyOf = ({ apiVersion, kind, metadata }: Manifest): string =>
  `${kindText({ group: groupVersion(apiVersion).group, kind })}/${metadata.namespace}/${metadata.name}`;

const isAccepted = (file: SourceFile): boolean =>
  readFiles([file]).diagnostics.every(({ severity }) => severity !== "error");

function acceptedMeshConfig(dice: Dice, refused: Record<string, number>): object | undefined {
  for (let attempt = 0; attempt < 5; attempt++) {
    const made = randomMeshConfig(dice);
    if (isAccepted({ file: "mesh.yaml", text: JSON.stringify(made) })) return made;
    refused.MeshConfig = (refused.MeshConfig ?? 0) + 1;
  }
  return undefined;
}

const unique = (manifests: readonly Manifest[]): readonly Manifest[] => [
  ...new Map(manifests.map((manifest) => [keyOf(manifest), manifest])).values(),
];

/** Proxies of kinds that pods do not show: other interceptions, families, versions of the node's metadata. */
function namedProxies(dice: Dice): readonly NamedProxy[] {
  return dice.list(0, 2, () => {
    const at = dice.int(200) + 1;
    const metadata = {
      ...dice.maybe(40, () => ({ INTERCEPTION_MODE: dice.pick(["NONE", "TPROXY"]) })),
      ...dice.maybe(15, () => ({ DNS_CAPTURE: "true" })),
      ...dice.maybe(15, () => ({ HTTP10: "1" })),
      ...dice.maybe(15, () => ({ IDLE_TIMEOUT: "30s" })),
      ...dice.maybe(10, () => ({ UNPRIVILEGED_POD: "true" })),
      ...dice.maybe(10, () => ({ ROUTER_MODE: "sni-dnat" })),
      ...dice.maybe(15, () => ({ REQUESTED_NETWORK_VIEW: "net1" })),
      ...dice.maybe(10, () => ({ HTTP_PROXY_PORT: "15009" })),
      ...dice.maybe(10, () => ({ INBOUND_LISTENER_EXACT_BALANCE: "true", OUTBOUND_LISTENER_EXACT_BALANCE: "true" })),
      ...dice.maybe(10, () => ({ ENVOY_STATUS_PORT: 8080, ENVOY_PROMETHEUS_PORT: 9090 })),
      ...dice.maybe(10, () => ({ TLS_SERVER_CERT_CHAIN: "/etc/s/cert.pem", TLS_SERVER_KEY: "/etc/s/key.pem" })),
      ...dice.maybe(10, () => ({ TLS_SERVER_ROOT_CERT: "/etc/s/root.pem", TLS_CLIENT_CERT_CHAIN: "/etc/c/cert.pem" })),
      ...dice.maybe(10, () => ({ TLS_CLIENT_KEY: "/etc/c/key.pem", TLS_CLIENT_ROOT_CERT: "/etc/c/root.pem" })),
      ...dice.maybe(15, () => ({ ISTIO_VERSION: dice.pick(["1.20.0", "1.27.5", "1.28.0", "1.29.1", "1.30.3"]) })),
      ...dice.maybe(15, () => ({ MESH_ID: "mesh1", CLUSTER_ID: "Kubernetes" })),
      ...dice.maybe(40, () => ({ PROXY_CONFIG: randomProxySettings(dice) })),
      ...dice.maybe(25, () => ({ GENERATOR: "grpc" })),
    };
    const router = dice.chance(25);
    return {
      name: `named-${at}`,
      type: router ? "router" : "sidecar",
      ip: dice.pick([
        `10.3.0.${at}`,
        `fd00:3::${at}`,
        [`10.3.0.${at}`, `fd00:3::${at}`],
        [`fd00:3::${at}`, `10.3.0.${at}`],
      ]),
      namespace: router ? "istio-system" : dice.pick(workloadNamespaces),
      labels: router
        ? { istio: "ingressgateway", ...dice.maybe(30, () => ({ "gateway.networking.k8s.io/gateway-name": "gw-a" })) }
        : labels(dice),
      serviceAccount: "named",
      ...dice.maybe(30, () => ({ locality: "r1/z1/s1" })),
      ...dice.maybe(20, () => ({ network: "net1" })),
      metadata,
    } as const;
  });
}
