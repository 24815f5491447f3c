import { keyOf } from "../../config/config.ts";
import { fieldsOf, listOf } from "../../config/untyped.ts";
import { step } from "../memo/step.ts";
import type { MadePolicy } from "./backend-policies.ts";
import { conditions } from "./conditions.ts";
import { meshController } from "./controllers.ts";
import { generationOf, type ObjectStatus, writtenStatus } from "./object-status.ts";

/** More than these a status does not hold; those of targets come first. */
const mostAncestors = 16;

interface PolicyStatusInputs {
  readonly made: MadePolicy;
  readonly controllerName: string;
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/backend_policies.go, mergeAncestors */
export const policyStatus = step(
  "status of a policy of the Gateway API",
  { made: "identity", controllerName: "value" },
  ({ made, controllerName }: PolicyStatusInputs): ObjectStatus => {
    const { config, ancestors } = made;
    const generation = generationOf(config);
    const existing = listOf(writtenStatus(config, "ancestors"));
    const entries = ancestors.map(({ ref, isGateway, conditions: drafts }) => {
      const known = existing.find((entry) => isSameReference(fieldsOf(entry).ancestorRef, ref));
      return {
        ancestorRef: ref,
        controllerName: isGateway ? controllerName : meshController,
        conditions: conditions(generation, fieldsOf(known).conditions, drafts),
      };
    });
    const left = [...entries];
    const kept = existing.flatMap((entry): readonly unknown[] => {
      const { controllerName: by, ancestorRef } = fieldsOf(entry);
      if (by !== controllerName && by !== meshController) return [entry];
      const at = left.findIndex((one) => isSameReference(ancestorRef, one.ancestorRef));
      return at < 0 ? [] : left.splice(at, 1);
    });
    return { key: keyOf(config), generation, status: { ancestors: [...kept, ...left].slice(0, mostAncestors) } };
  },
);

const referenceFields = ["group", "kind", "name", "namespace", "sectionName", "port"];

function isSameReference(written: unknown, ref: Readonly<Record<string, string>>): boolean {
  const fields = fieldsOf(written);
  return referenceFields.every((field) => fields[field] === ref[field]);
}
