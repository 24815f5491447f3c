import { step } from "../memo/step.ts";
import type { MadePolicy } from "./backend-policies.ts";
import { conditions } from "./conditions.ts";
import { meshController } from "./controllers.ts";
import { generationOf, type ObjectStatus, objectStatus } from "./object-status.ts";

interface PolicyStatusInputs {
  readonly made: MadePolicy;
  readonly controllerName: string;
}

/**
 * The status of a policy; of its targets and the gateways before them the targets come first.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/backend_policies.go, mergeAncestors
 */
export const policyStatus = step(
  "status of a policy of the Gateway API",
  { made: "identity", controllerName: "value" },
  ({ made, controllerName }: PolicyStatusInputs): ObjectStatus => {
    const { config, ancestors } = made;
    const entries = ancestors.map(({ ref, isGateway, conditions: drafts }) => ({
      ancestorRef: ref,
      controllerName: isGateway ? controllerName : meshController,
      conditions: conditions(generationOf(config), drafts),
    }));
    return objectStatus(config, { ancestors: entries }, [controllerName, meshController]);
  },
);
