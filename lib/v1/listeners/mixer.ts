import { createHash } from "node:crypto";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { Quota, QuotaSpec } from "../../config/kinds/legacy/mixer-client.ts";
import { escaped } from "../../legacy/go-json.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { hasHoles, packedHoles } from "../../legacy/template.ts";
import { type BuiltCluster, http2Settings } from "../clusters/clusters.ts";
import { endUserSpec } from "../compat/end-user.ts";
import { httpApiSpecsFor, quotaSpecsFor } from "../config-store.ts";
import type { HttpFilter, NetworkFilter } from "../documents.ts";
import type { LegacyInstance, LegacyMesh, LegacyMeshConfig, LegacyService } from "../legacy-world.ts";
import type { RequestContext } from "../request-context.ts";
import { withSortedKeys } from "../sorted-keys.ts";
import { workloadCertificateFiles } from "./authentication.ts";

const checkCluster = "mixer_check_server";
const reportCluster = "mixer_report_server";
const transport = { checkCluster, reportCluster };

/** The clusters of Mixer's servers. @see docs/how-istio-does-it/legacy-v1.md#mixer */
export function mixerClusters(mesh: LegacyMeshConfig): readonly BuiltCluster[] {
  const servers = [
    [checkCluster, mesh.mixerCheckServer],
    [reportCluster, mesh.mixerReportServer],
  ] as const;
  return servers
    .filter(([, server]) => server !== "")
    .map(([name, server]) => ({
      cluster: {
        name,
        connect_timeout_ms: mesh.connectTimeoutMs,
        type: "strict_dns",
        lb_type: "round_robin",
        hosts: [{ url: `tcp://${server}` }],
        ...(mesh.controlPlaneAuthPolicy === "MUTUAL_TLS" ? { ssl_context: mixerTls(mesh) } : {}),
        http2_settings: http2Settings,
        circuit_breakers: { default: { max_pending_requests: 10_000, max_requests: 10_000 } },
      },
      policyTarget: undefined,
    }));
}

function mixerTls(mesh: LegacyMeshConfig) {
  // Istio writes null where no identities are configured.
  return {
    ...workloadCertificateFiles,
    verify_subject_alt_name: mesh.mixerIdentities.length === 0 ? null : mesh.mixerIdentities,
  };
}

type Attributes = Readonly<Record<string, object>>;

const text = (value: string): object => ({ stringValue: value });

/** `<prefix>.ip`, `.labels` and `.uid` of a workload, sorted. */
function workloadAttributes(
  prefix: "source" | "destination",
  { ip, ipBytes, id }: Pick<NodeId, "ip" | "ipBytes" | "id">,
  labels: Readonly<Record<string, string>> | undefined,
): Attributes {
  return {
    ...(ip === "" ? {} : { [`${prefix}.ip`]: { bytesValue: ipBytes } }),
    ...labelAttribute(prefix, labels),
    [`${prefix}.uid`]: text(`kubernetes://${id}`),
  };
}

function labelAttribute(
  prefix: "source" | "destination",
  labels: Readonly<Record<string, string>> | undefined,
): Attributes {
  const entries = Object.entries(labels ?? {}).sort(([a], [b]) => byCodePoint(a, b));
  if (entries.length === 0) return {};
  return { [`${prefix}.labels`]: { stringMapValue: { entries: Object.fromEntries(entries) } } };
}

/** What Mixer is told about one service behind a proxy. */
function serviceConfig(
  name: string,
  hostname: string,
  attributes: Attributes,
  world: LegacyMesh,
  disable: { readonly check: boolean; readonly report: boolean },
): object {
  const apis = httpApiSpecsFor(world.configs, hostname);
  const quotas = quotaSpecsFor(world.configs, hostname);
  const endUser = endUserSpec(world.v1alpha3, hostname);
  return {
    ...(disable.check ? { disableCheckCalls: true } : {}),
    ...(disable.report ? { disableReportCalls: true } : {}),
    mixerAttributes: { attributes: sorted({ ...attributes, "destination.service": text(name) }) },
    ...(apis.length === 0 ? {} : { httpApiSpec: apis }),
    ...(quotas.length === 0 ? {} : { quotaSpec: quotas.map(quotaJson) }),
    ...(endUser === undefined ? {} : { endUserAuthnSpec: endUser }),
  };
}

/** Proto JSON writes numbers of 64 bits as texts. */
function quotaJson(spec: QuotaSpec): object {
  const quota = ({ charge, ...rest }: Quota): object => ({
    ...(charge === undefined ? {} : { charge: String(charge) }),
    ...rest,
  });
  return { rules: spec.rules.map((rule) => ({ ...rule, quotas: rule.quotas.map(quota) })) };
}

const sorted = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => byCodePoint(a, b)));

/** A service as the Mixer filter of a connection manager knows it: the ingress service has no labels of its own. */
export interface MixerService {
  readonly service: Pick<LegacyService, "hostname">;
  readonly labels: Readonly<Record<string, string>>;
}

/** The Mixer filter of a connection manager. @param outbound the proxy speaks for a client */
export function mixerHttpFilter(
  world: LegacyMesh,
  node: NodeId,
  services: readonly MixerService[],
  outbound: boolean,
): HttpFilter {
  const [first] = services;
  const own = (prefix: "source" | "destination"): Attributes => workloadAttributes(prefix, node, first?.labels);
  const disable = { check: outbound || world.mesh.disablePolicyChecks, report: outbound };
  const configs = services.map(({ service: { hostname }, labels }): [string, object] => [
    hostname,
    serviceConfig(hostname, hostname, labelAttribute("destination", labels), world, disable),
  ]);
  const forwards = outbound || node.type !== "sidecar";
  const v2 = {
    transport,
    serviceConfigs: Object.fromEntries(configs.sort(([a], [b]) => byCodePoint(a, b))),
    ...(first === undefined ? {} : { defaultDestinationService: first.service.hostname }),
    mixerAttributes: { attributes: outbound ? {} : own("destination") },
    ...(forwards ? { forwardAttributes: { attributes: own("source") } } : {}),
  };
  return { type: "decoder", name: "mixer", config: { v2: withSortedKeys(v2) } };
}

/** The Mixer filter of an inbound TCP listener. */
export function mixerTcpFilter(world: LegacyMesh, node: NodeId, instance: LegacyInstance): NetworkFilter {
  const attributes = {
    ...workloadAttributes("destination", node, undefined),
    "destination.service": text(instance.service.hostname),
  };
  return {
    type: "both",
    name: "mixer",
    config: {
      mixer_attributes: { "destination.ip": node.ip, "destination.uid": `kubernetes://${node.id}` },
      v2: withSortedKeys({
        mixerAttributes: { attributes },
        transport,
        ...(world.mesh.disablePolicyChecks ? { disableCheckCalls: true } : {}),
      }),
    },
  };
}

/** What a route tells the Mixer filter in front of a workload, or (`forward`) at the edge. */
export function routeMixerConfig(
  mesh: LegacyMeshConfig,
  hostname: string,
  forward: boolean,
): Readonly<Record<string, string>> {
  return {
    "destination.service": hostname,
    mixer_check: mesh.disablePolicyChecks ? "off" : "on",
    mixer_forward: forward ? "on" : "off",
    mixer_report: "on",
  };
}

/** What an egress route tells the Mixer filter: a whole service configuration, packed, and its digest. */
export function egressMixerConfig(
  serviceName: string,
  destination: string,
  { world, node, here }: RequestContext,
): Readonly<Record<string, string>> {
  const attributes = {
    ...workloadAttributes("source", node, here.labels),
    ...workloadAttributes("destination", { ip: "", ipBytes: "", id: serviceName }, undefined),
  };
  const disable = { check: world.mesh.disablePolicyChecks, report: false };
  const packed = escaped(JSON.stringify(serviceConfig(serviceName, destination, attributes, world, disable)));
  if (hasHoles(packed)) {
    const template = packedHoles(packed);
    return { "destination.service": serviceName, mixer: template.packed, mixer_sha: template.digest };
  }
  return {
    "destination.service": serviceName,
    mixer: Buffer.from(packed).toString("base64"),
    mixer_sha: createHash("sha256").update(packed).digest("base64"),
  };
}
