import type { Origin } from "../../base/diagnostic.ts";
import type { CompatSettings } from "../compat/compat-settings.ts";
import type { GatewayApiSettings } from "../gateway-api/gateway-api-settings.ts";
import type { Labels } from "../values/labels.ts";
import type { NamedProxy } from "./named-proxy.ts";
import type { ResolvedFacts } from "./resolved-facts.ts";

/** Where something listens that a folder names, and holds no addresses of. */
export interface StatedEndpoints {
  /** The pods of workload templates, or whatever stands behind a service. */
  readonly of: "workload" | "service";
  /** `*`: of all namespaces. */
  readonly namespace: string;
  /** `*`: all of the namespace. */
  readonly name: string;
  readonly hosts: readonly StatedHost[];
  /** Over those of the template. */
  readonly labels: Labels;
  readonly origin: Origin;
}

/** `reviews`, `10.0.0.5:9080`; `{name}` and `{namespace}` stand for those of the workload or service. */
export interface StatedHost {
  /** A DNS name or an address. */
  readonly host: string;
  /** Undefined: the target port of each port of a service. */
  readonly port: number | undefined;
}

/** What `portolan.yaml` says: the folder's own settings, which are no part of the mesh's. */
export interface FolderSettings {
  readonly endpoints: readonly StatedEndpoints[];
  /** Proxies besides those of workloads; absent: none. */
  readonly proxies?: readonly NamedProxy[];
  /** Which Istio the mesh is answered like; absent: the newest, with its own defaults. */
  readonly compat?: CompatSettings;
  /** Switches of the Gateway API; what is absent is as usual. */
  readonly gatewayApi?: Partial<GatewayApiSettings>;
  /** Which proxies get the filters that only Istio's own has; absent: `auto`. */
  readonly proxyBuild?: "auto" | "envoy" | "istio";
  /** Whether a RequestAuthentication may hold symmetric keys in `jwks`, which are stored and published in clear text; absent: `refuse`. */
  readonly inlineSymmetricKeys?: "allow" | "refuse";
  /** What a resolver has looked up; absent: nothing. */
  readonly resolved?: ResolvedFacts;
  /** Whether patches of EnvoyFilters may hold messages of types that are not known here, which nobody checks; absent: no. */
  readonly acceptUnknownTypes?: boolean;
}

export const noFolderSettings: FolderSettings = { endpoints: [] };
