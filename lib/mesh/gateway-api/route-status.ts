import { keyOf } from "../../config/config.ts";
import type { ParentReference } from "../../config/gateway-api/reference.ts";
import { fieldsOf, isFields, listOf, numberOf, textOf } from "../../config/untyped.ts";
import { step } from "../memo/step.ts";
import { type Condition, conditions } from "./conditions.ts";
import { generationOf, type ObjectStatus, writtenStatus } from "./object-status.ts";
import { type AttachedParent, parentText } from "./parents.ts";
import { type Problem, problem } from "./problem.ts";
import type { MadeRoute } from "./route.ts";

interface RouteStatusInputs {
  readonly made: MadeRoute;
  readonly controllerName: string;
}

/**
 * The status of a route: one entry for each of its parents that is ours.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conditions.go, createRouteStatus
 */
export const routeStatus = step(
  "status of a route of the Gateway API",
  { made: "identity", controllerName: "value" },
  ({ made, controllerName }: RouteStatusInputs): ObjectStatus => {
    const { config } = made.route;
    const generation = generationOf(config);
    const { namespace } = config.meta;
    const existing = listOf(writtenStatus(config, "parents"));
    const isOurs = (entry: unknown): boolean => fieldsOf(entry).controllerName === controllerName;
    const ours = new Map(
      existing.flatMap((entry, at) => {
        if (!isOurs(entry)) return [];
        const text = parentText(readReference(fieldsOf(entry).parentRef), namespace);
        return [[text, { at, conditions: fieldsOf(entry).conditions }] as const];
      }),
    );
    const reports = reportsOf(made).map((report) => {
      const text = parentText(report.ref, namespace);
      const entry = {
        parentRef: report.ref,
        controllerName,
        conditions: reportConditions(report, generation, ours.get(text)?.conditions),
      };
      return { text, entry };
    });
    // Entries keep their places; ours that mean no parent any more go; new ones follow.
    const byText = new Map(reports.map((report) => [report.text, report.entry]));
    const kept = existing.flatMap((entry, at): readonly unknown[] => {
      if (!isOurs(entry)) return [entry];
      const text = parentText(readReference(fieldsOf(entry).parentRef), namespace);
      const now = ours.get(text)?.at === at ? byText.get(text) : undefined;
      return now === undefined ? [] : [now];
    });
    const added = reports
      .filter(({ text }) => !ours.has(text))
      .sort((a, b) => (a.text === b.text ? 0 : a.text > b.text ? -1 : 1))
      .map(({ entry }) => entry);
    return { key: keyOf(config), generation, status: { parents: [...kept, ...added] } };
  },
);

/** A reference of a status, which nobody has validated. */
function readReference(written: unknown): ParentReference {
  const { group, kind, name, namespace, sectionName, port } = fieldsOf(written);
  const number = numberOf(port);
  return {
    group: typeof group === "string" ? group : "gateway.networking.k8s.io",
    kind: typeof kind === "string" ? kind : "Gateway",
    name: textOf(name),
    ...(typeof namespace === "string" ? { namespace } : {}),
    ...(typeof sectionName === "string" ? { sectionName } : {}),
    ...(number === undefined ? {} : { port: number }),
  };
}

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
  existing: unknown,
): readonly Condition[] {
  const message = attached > 1 ? `Route was valid, bound to ${attached} parents` : "Route was valid";
  return conditions(generation, listOf(existing).filter(isFields), {
    Accepted: { reason: "Accepted", message, problem: denial },
    ResolvedRefs: { reason: "ResolvedRefs", message: "All references resolved", problem: wrong },
  });
}
