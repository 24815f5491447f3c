import { type Form, forms } from "../../lib/mesh/forms.ts";
import type { Proxy } from "../../lib/mesh/proxy/proxy.ts";
import { bracketed } from "../../lib/xds/names.ts";
import type { ResourceType } from "../../lib/xds/resource.ts";
import { isObject, type Json } from "./json.ts";

/** One place where the two forms of a proxy's answers differ. */
export interface FormDifference {
  readonly proxy: Proxy;
  readonly type: ResourceType;
  /** `$["0.0.0.0_80"].filterChains[0].name`; tags of spans by their names. */
  readonly path: string;
  /** undefined: not there in the form. */
  readonly istio: Json | undefined;
  readonly shared: Json | undefined;
}

export type FormRule = keyof Form;
// `Object.keys` does not say that they are the object's.
export const formRules: readonly FormRule[] = Object.keys(forms.istio) as FormRule[];

/** What each rule may change, and into what. */
const allows: Readonly<Record<FormRule, (found: FormDifference) => boolean>> = {
  tagsWithoutTracer: ({ type, path, istio, shared }) =>
    type === "listeners" &&
    shared === undefined &&
    (/\.tracing\.customTags\["istio\.[^"]+"\]$/.test(path) ||
      (/\.tracing\.customTags$/.test(path) &&
        isObject(istio) &&
        Object.keys(istio).every((tag) => tag.startsWith("istio.")))),

  podAsServiceName: ({ proxy, type, path, istio, shared }) =>
    type === "listeners" &&
    path.endsWith(".tracing.provider.typedConfig.serviceName") &&
    istio === proxy.id.split(".")[0] &&
    shared === (proxy.labels["service.istio.io/canonical-name"] ?? "unknown_service"),

  ownHeadlessAddressLeftOut: ({ proxy, type, path, istio, shared }) =>
    type === "listeners" &&
    proxy.type === "sidecar" &&
    istio === undefined &&
    isObject(shared) &&
    shared.trafficDirection === "OUTBOUND" &&
    proxy.addresses.some((address) => path.startsWith(`$["${address}_`) && /_\d+"\]$/.test(path)),

  ownAddressInIngressNames: ({ proxy, type, path, istio, shared }) =>
    type === "listeners" &&
    /^\$\["virtualInbound"\]\.filterChains\[\d+\](\.name|\.filters\[\d+\]\.typedConfig\.statPrefix)$/.test(path) &&
    typeof istio === "string" &&
    proxy.addresses.some((own) => istio.replaceAll(own, own.includes(":") ? "::" : "0.0.0.0") === shared),

  claimedVersionHeeded: ({ proxy, type, path }) =>
    type === "listeners" &&
    /^1\.2\d\./.test(proxy.metadata.istioVersion) &&
    /\.tracing\.(noContextPropagation|customTags\.\w+|provider\.typedConfig\.(traceContextOption|collector(Service|Cluster|Endpoint|Hostname)))$/.test(
      path,
    ),

  keySetsLeftToControlPlane: ({ type, path, istio, shared }) =>
    type === "listeners" &&
    /\.typedConfig\.providers\["origins-\d+"\]\.(localJwks|remoteJwks)$/.test(path) &&
    (path.endsWith(".localJwks") ? shared === undefined : istio === undefined),

  grpcTablesOfWholePorts: ({ proxy, type, path, shared }) =>
    proxy.type === "grpc" && type === "routes" && shared === undefined && /\.virtualHosts(\["[^"]+"\])?$/.test(path),

  grpcNamesakesLeftOut: ({ proxy, type, path, istio }) =>
    proxy.type !== "grpc" && type === "routes" && istio === undefined && /\.virtualHosts(\["[^"]+"\])?$/.test(path),

  grpcRefusalsSent: ({ proxy, type, path }) =>
    proxy.type === "grpc" &&
    ((type === "clusters" && /\.(lbPolicy|maglevLbConfig)$/.test(path)) ||
      (type === "routes" && /\.virtualHosts\["[^"]+"\]\.routes\[\d+\]/.test(path))),

  grpcPoliciesOpen: ({ proxy, type, path }) =>
    proxy.type === "grpc" &&
    type === "listeners" &&
    /^\$\["xds\.istio\.io\/[^"]+"\]\.filterChains\[0\]\.filters\[0\]\.typedConfig\.httpFilters\[\d+\]/.test(path),

  grpcOwnAddresses: ({ proxy, type, path, shared }) =>
    proxy.type === "grpc" &&
    type === "listeners" &&
    shared === undefined &&
    proxy.addresses.some((own) => path.startsWith(`$["xds.istio.io/grpc/lds/inbound/${bracketed(own)}:`)),
};

/** The rules by which two forms may differ at a place; of a difference that is meant there is one. */
export const rulesBehind = (found: FormDifference): readonly FormRule[] =>
  formRules.filter((rule) => allows[rule](found));
