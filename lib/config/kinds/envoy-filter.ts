import type { PolicyTargetReference } from "./selector.ts";
import type { WorkloadSelector } from "./sidecar.ts";

/** `networking.istio.io` EnvoyFilter. @see https://istio.io/latest/docs/reference/config/networking/envoy-filter/ */
export interface EnvoyFilter {
  /** Absent: the whole namespace (the mesh, in the root namespace). */
  readonly workloadSelector?: WorkloadSelector;
  readonly targetRefs?: readonly PolicyTargetReference[];
  readonly configPatches?: readonly EnvoyConfigObjectPatch[];
  /** Absent: 0. */
  readonly priority?: number;
  /** Never written: types that are not known here may be passed on, as the settings of the folder say. */
  readonly acceptsUnknownTypes?: true;
}

export type ApplyTo =
  | "INVALID"
  | "LISTENER"
  | "FILTER_CHAIN"
  | "NETWORK_FILTER"
  | "HTTP_FILTER"
  | "ROUTE_CONFIGURATION"
  | "VIRTUAL_HOST"
  | "HTTP_ROUTE"
  | "CLUSTER"
  | "EXTENSION_CONFIG"
  | "BOOTSTRAP"
  | "LISTENER_FILTER";

export type PatchContext = "ANY" | "SIDECAR_INBOUND" | "SIDECAR_OUTBOUND" | "GATEWAY" | "WAYPOINT";

export interface EnvoyConfigObjectPatch {
  readonly applyTo: ApplyTo;
  readonly match?: EnvoyConfigObjectMatch;
  readonly patch: Patch;
}

/** At most one of the four object matches. */
export interface EnvoyConfigObjectMatch {
  /** Absent: ANY. */
  readonly context?: PatchContext;
  readonly proxy?: ProxyMatch;
  readonly listener?: ListenerMatch;
  readonly routeConfiguration?: RouteConfigurationMatch;
  readonly cluster?: ClusterMatch;
  readonly waypoint?: WaypointMatch;
}

export interface ProxyMatch {
  /** RE2. */
  readonly proxyVersion?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface ListenerMatch {
  readonly portNumber?: number;
  readonly portName?: string;
  readonly filterChain?: FilterChainMatch;
  readonly listenerFilter?: string;
  readonly name?: string;
}

export interface FilterChainMatch {
  readonly name?: string;
  readonly sni?: string;
  readonly transportProtocol?: string;
  /** Comma-separated. */
  readonly applicationProtocols?: string;
  readonly filter?: FilterMatch;
  readonly destinationPort?: number;
  /** Name of the transport socket; that of plain text is the one of a chain without any (1.32). */
  readonly transportSocket?: string;
}

export interface FilterMatch {
  readonly name?: string;
  readonly subFilter?: SubFilterMatch;
}

export interface SubFilterMatch {
  readonly name?: string;
}

export interface RouteConfigurationMatch {
  readonly portNumber?: number;
  readonly portName?: string;
  /** `namespace/name` of a Gateway. */
  readonly gateway?: string;
  readonly vhost?: VirtualHostMatch;
  readonly name?: string;
}

export interface VirtualHostMatch {
  readonly name?: string;
  readonly domainName?: string;
  readonly route?: RouteMatch;
}

export interface RouteMatch {
  readonly name?: string;
  /** Absent: ANY. */
  readonly action?: "ANY" | "ROUTE" | "REDIRECT" | "DIRECT_RESPONSE";
}

export interface ClusterMatch {
  readonly portNumber?: number;
  readonly service?: string;
  readonly subset?: string;
  readonly name?: string;
}

export interface WaypointMatch {
  readonly portNumber?: number;
  readonly route?: { readonly name?: string };
  readonly filter?: FilterMatch;
}

/** A longer `proxyVersion` matches no proxy, from Istio 1.31 on. In characters. */
export const longestVersionPattern = 1024;

/** Targets that are filters of a list. */
export const filterTargets: ReadonlySet<ApplyTo> = new Set(["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER"]);

export type PatchOperation =
  | "INVALID"
  | "MERGE"
  | "ADD"
  | "REMOVE"
  | "INSERT_BEFORE"
  | "INSERT_AFTER"
  | "INSERT_FIRST"
  | "REPLACE"
  /** A field of 1.31: as MERGE, and lists of the patch take the place of those that are there. */
  | "MERGE_AND_REPLACE_LIST";

export interface Patch {
  readonly operation: PatchOperation;
  /** Envoy's message in proto JSON, either spelling of field names; absent for REMOVE. */
  readonly value?: Readonly<Record<string, unknown>>;
  /** Absent: UNSPECIFIED. */
  readonly filterClass?: "UNSPECIFIED" | "AUTHN" | "AUTHZ" | "STATS";
}
