import type { PolicyStatus, RouteStatus } from "../../../config/gateway-api/status/status.ts";
import { query } from "../../../incremental/query.ts";
import { conditions } from "../conditions.ts";
import { meshController } from "../controllers.ts";
import { generationOf, type ObjectStatus, objectStatus } from "../object-status.ts";
import type { MadePolicy } from "./backend-policies.ts";

interface PolicyStatusInputs {
  readonly made: MadePolicy;
  readonly controllerName: string;
}

/**
 * The status of a policy; of its targets and the gateways before them the targets come first.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/backend_policies.go, mergeAncestors
 */
export const policyStatus = query(
  "status of a policy of the Gateway API",
  ({ made, controllerName }: PolicyStatusInputs): ObjectStatus => {
    const { config, ancestors } = made;
    const entries = ancestors.map(({ ref, isGateway, conditions: drafts }) => ({
      ancestorRef: ref,
      controllerName: isGateway ? controllerName : meshController,
      conditions: conditions(generationOf(config), drafts),
    }));
    return objectStatus(config, listOfEntries(config.spec, entries), [controllerName, meshController]);
  },
);

/** As the installed definition calls the entries: those of an XBackend of 1.6 are of its parents. */
function listOfEntries(
  spec: MadePolicy["config"]["spec"],
  entries: readonly AncestorEntry[],
): RouteStatus | PolicyStatus {
  if (!("port" in spec) || spec.port.number !== undefined) return { ancestors: entries };
  return { parents: entries.map(({ ancestorRef: parentRef, ...rest }) => ({ parentRef, ...rest })) };
}

interface AncestorEntry {
  readonly ancestorRef: Readonly<Record<string, string>>;
}
