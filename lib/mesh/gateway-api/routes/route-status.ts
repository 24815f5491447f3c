import { parentText } from "../../../config/gateway-api/parent-text.ts";
import type { ParentReference } from "../../../config/gateway-api/reference.ts";
import type { Condition } from "../../../config/gateway-api/status/status.ts";
import { query } from "../../../incremental/query.ts";
import { conditions } from "../conditions.ts";
import { generationOf, type ObjectStatus, objectStatus } from "../object-status.ts";
import { type Problem, problem } from "../problem.ts";
import type { AttachedParent } from "./parents.ts";
import type { MadeRoute } from "./route.ts";

interface RouteStatusInputs {
  readonly made: MadeRoute;
  readonly controllerName: string;
}

/**
 * The status of a route: one entry for each of its parents that is ours.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conditions.go, createRouteStatus
 */
export const routeStatus = query(
  "status of a route of the Gateway API",
  ({ made, controllerName }: RouteStatusInputs): ObjectStatus => {
    const { config } = made.route;
    const reports = reportsOf(made)
      .map((report) => ({ report, text: parentText(report.ref, config.meta.namespace) }))
      .sort((a, b) => (a.text === b.text ? 0 : a.text > b.text ? -1 : 1));
    const parents = reports.map(({ report }) => ({
      parentRef: report.ref,
      controllerName,
      conditions: reportConditions(report, generationOf(config)),
    }));
    return objectStatus(config, { parents }, [controllerName]);
  },
);

/** What is told of one reference, which may mean several listeners. */
interface ParentReport {
  readonly ref: ParentReference;
  /** How many listeners take the route. */
  readonly attached: number;
  readonly denial: Problem | undefined;
  readonly problem: Problem | undefined;
}

/** How near a route came to a listener that does not take it: the nearest one is told of. */
const reasons = ["", "NotAllowedByListeners", "NoMatchingListenerHostname", "NoMatchingParent"];
const rankOf = ({ denial }: AttachedParent): number => reasons.indexOf(denial?.reason ?? "");

function reportsOf({ parents, problems }: MadeRoute): readonly ParentReport[] {
  return [...Map.groupBy(parents, ({ ref }) => ref)].map(([ref, meant]) => {
    const nearest = Math.min(...meant.map(rankOf));
    const told = meant.filter((parent) => rankOf(parent) === nearest);
    const messages = told.flatMap(({ denial }) => denial?.message ?? []).sort();
    const isMesh = meant.some(({ parent }) => parent.name === "mesh");
    return {
      ref,
      attached: meant.filter(({ denial }) => denial === undefined).length,
      denial: nearest === 0 ? undefined : problem(reasons[nearest] ?? "", messages.join("; ")),
      problem: isMesh ? problems.mesh : problems.gateway,
    };
  });
}

function reportConditions(
  { attached, denial, problem: wrong }: ParentReport,
  generation: number,
): readonly Condition[] {
  const message = attached > 1 ? `Route was valid, bound to ${attached} parents` : "Route was valid";
  return conditions(generation, {
    Accepted: { reason: "Accepted", message, problem: denial },
    ResolvedRefs: { reason: "ResolvedRefs", message: "All references resolved", problem: wrong },
  });
}
