import type { Config } from "../../lib/config/config.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";

/** A config read from YAML: the spec on one line, or the whole of one document. */
export function aConfig(kind: string, name: string, spec: string, namespace = "default"): Config {
  const [config] = configsOf(`${envelope(kind, name, namespace)}spec: ${spec}`);
  if (config === undefined) throw new Error(`${kind} ${name} is refused`);
  return config;
}

export function configsOf(text: string): readonly Config[] {
  return readFiles([{ file: "a.yaml", text }]).configs;
}

/** `kind: spec` of the head of a document. */
export function envelope(kind: string, name: string, namespace = "default"): string {
  return `apiVersion: ${apiVersions[kind] ?? "networking.istio.io/v1"}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}\n`;
}

const legacy = "config.istio.io/v1alpha2";

const apiVersions: Readonly<Record<string, string>> = {
  EnvoyFilter: "networking.istio.io/v1alpha3",
  ProxyConfig: "networking.istio.io/v1beta1",
  AuthorizationPolicy: "security.istio.io/v1",
  PeerAuthentication: "security.istio.io/v1",
  RequestAuthentication: "security.istio.io/v1",
  Telemetry: "telemetry.istio.io/v1",
  WasmPlugin: "extensions.istio.io/v1alpha1",
  TrafficExtension: "extensions.istio.io/v1alpha1",
  RouteRule: legacy,
  EgressRule: legacy,
  IngressRule: legacy,
  DestinationPolicy: legacy,
  HTTPAPISpec: legacy,
  HTTPAPISpecBinding: legacy,
  QuotaSpec: legacy,
  QuotaSpecBinding: legacy,
  Policy: "authentication.istio.io/v1alpha1",
  MeshPolicy: "authentication.istio.io/v1alpha1",
  ServiceRole: "rbac.istio.io/v1alpha1",
  ServiceRoleBinding: "rbac.istio.io/v1alpha1",
  RbacConfig: "rbac.istio.io/v1alpha1",
  ClusterRbacConfig: "rbac.istio.io/v1alpha1",
};
