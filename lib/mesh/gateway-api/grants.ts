import type { Config } from "../../config/config.ts";
import type { ReferenceGrant } from "../../config/gateway-api/backend-policy.ts";
import { query } from "../../incremental/query.ts";

/** Who names an object of another namespace. */
export interface ReferringObject {
  /** `HTTPRoute`, `Gateway`; all of them are the Gateway API's. */
  readonly kind: string;
  readonly namespace: string;
}

/** The object that is named. */
export interface ReferredObject {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Says whether an object may name one of another namespace: some ReferenceGrant beside that one has to allow it. */
export type Grants = (from: ReferringObject, to: ReferredObject) => boolean;

/** The same as a question of plain values, as a source of a traced step answers it. */
export interface GrantSource {
  /** Whether an object may name one of another namespace. */
  isGranted(
    kind: string,
    namespace: string,
    toGroup: string,
    toKind: string,
    toNamespace: string,
    toName: string,
  ): boolean;
}

const gatewayGroup = "gateway.networking.k8s.io";
const referring: ReadonlySet<string> = new Set(
  ["Gateway", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "ListenerSet"].map((kind) => `${gatewayGroup}/${kind}`),
);
/** Whether a grant is to Gateways. */
export const isOfGateways = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
  group === gatewayGroup && (kind === "Gateway" || kind === "ListenerSet");

const referred: ReadonlySet<string> = new Set([
  "/ConfigMap",
  "/Secret",
  "/Service",
  "gateway.networking.x-k8s.io/XBackend",
  "inference.networking.k8s.io/InferencePool",
]);

/** @see istio 1.30.3 pilot/pkg/config/kube/gatewaycommon/references.go */
export const grantsOf = query(
  "reference grants",
  ({ configs }: { readonly configs: readonly Config<ReferenceGrant>[] }): Grants => {
    const allowed = new Map<string, Set<string>>();
    for (const { meta, spec } of configs) {
      for (const from of spec.from) {
        if (!referring.has(`${from.group}/${from.kind}`)) continue;
        for (const { group, kind, name = everyName } of spec.to) {
          if (!referred.has(`${group}/${kind}`)) continue;
          const key = pairKey(from, { group, kind, namespace: meta.namespace });
          const names = allowed.get(key);
          if (names === undefined) allowed.set(key, new Set([name]));
          else names.add(name);
        }
      }
    }
    return (from, to) => {
      const names = allowed.get(pairKey(from, to));
      return names !== undefined && (names.has(everyName) || names.has(to.name));
    };
  },
);

/** No name that a grant can give: its definition takes any other text, `*` for one. */
const everyName = "";

function pairKey(from: ReferringObject, to: Omit<ReferredObject, "name">): string {
  return `${from.kind}/${from.namespace}|${to.group}/${to.kind}/${to.namespace}`;
}
