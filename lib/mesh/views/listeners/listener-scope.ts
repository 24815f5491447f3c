import type { VirtualService } from "../../../config/kinds/virtual-service.ts";
import { internList } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import type { MeshVirtualService } from "../../index/virtual-service-index.ts";
import { serviceScopeOf } from "../../scope/scope-for.ts";
import type { EgressListener, SidecarScope } from "../../scope/sidecar-scope.ts";
import type { ListenerEgress, ListenerScope, ServiceScope } from "../views.ts";

/** What listeners read of a scope: the same one as long as no virtual service with routes for streams changes. */
export const listenerScopeOf = (scope: SidecarScope, memo: Memo): ListenerScope => partOfListeners(memo, { scope });

const partOfListeners = query(
  "listeners' part of a scope",
  ({ scope }: { readonly scope: SidecarScope }, memo: Memo): ListenerScope =>
    listenerScope(memo, {
      services: serviceScopeOf(scope, memo),
      egressListeners: scope.egressListeners.map((egress) => egressOf(egress, memo)),
    }),
);

interface ScopeInputs extends Pick<ListenerScope, "egressListeners"> {
  readonly services: ServiceScope;
}

const listenerScope = query(
  "scope of listeners",
  { egressListeners: "elements" },
  ({ services, egressListeners }: ScopeInputs): ListenerScope => ({ ...services, egressListeners }),
);

const egressOf = ({ spec, services, virtualServices }: EgressListener, memo: Memo): ListenerEgress =>
  listenerEgress(memo, { spec, services, virtualServices: withStreams(memo, { virtualServices }) });

/** All namespaces see the same ones as a rule. */
const withStreams = query(
  "virtual services with routes for streams",
  ({ virtualServices }: Pick<EgressListener, "virtualServices">, memo: Memo): readonly MeshVirtualService[] =>
    internList(
      memo,
      virtualServices.filter(({ config }) => routesStreams(config.spec)),
    ),
);

const listenerEgress = query(
  "listeners' part of an egress listener",
  (egress: ListenerEgress): ListenerEgress => egress,
);

const routesStreams = ({ tcp, tls }: VirtualService): boolean => (tcp?.length ?? 0) > 0 || (tls?.length ?? 0) > 0;
