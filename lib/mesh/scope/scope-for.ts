import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import type { ServiceScope } from "../views/views.ts";
import { gatewayScope, type ScopeSources, type SidecarScope, sidecarScope } from "./sidecar-scope.ts";

/** What selects the scope of a proxy. */
export interface ProxyKey {
  readonly type: Proxy["type"];
  readonly namespace: string;
  /** The one that selects it; never that of a gateway. */
  readonly sidecar: SidecarScope["sidecar"];
}

/** The scope of a proxy, shared by all proxies of the namespace that the same Sidecar selects. */
export function scopeFor(mesh: Mesh, { type, namespace, sidecar }: ProxyKey, memo: Memo): SidecarScope {
  const { services, virtualServices, destinationRules, config: meshConfig } = mesh;
  const sources = { services, virtualServices, destinationRules, meshConfig };
  if (type === "router") return scopeOfGateway(memo, { ...sources, namespace });
  return scopeOfSidecar(memo, { ...sources, namespace, sidecar });
}

interface ScopeInputs extends ScopeSources {
  readonly namespace: string;
}

const scopeOfGateway = query("scope of a gateway", ({ namespace, ...sources }: ScopeInputs, memo: Memo) =>
  gatewayScope(sources, namespace, memo),
);

const scopeOfSidecar = query(
  "scope of a sidecar",
  ({ namespace, sidecar, ...sources }: ScopeInputs & Pick<SidecarScope, "sidecar">, memo: Memo) =>
    sidecarScope(sources, namespace, sidecar, memo),
);

/** The part of a scope that VirtualServices change only by the services that they import. */
export const serviceScopeOf = (scope: SidecarScope, memo: Memo): ServiceScope => partOfServices(memo, { scope });

const partOfServices = query(
  "services of a scope",
  ({ scope }: { readonly scope: SidecarScope }, memo: Memo): ServiceScope => {
    const { egressListeners: _listeners, ...services } = scope;
    return serviceScope(memo, services);
  },
);

const serviceScope = query(
  "service scope",
  { outboundTrafficPolicy: "value" },
  (scope: ServiceScope): ServiceScope => scope,
);
