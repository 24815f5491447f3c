import type { Diagnostic } from "./diagnostic.ts";
import { at, type Finding } from "./finding.ts";
import { groupVersion } from "./group-version.ts";
import { kindSchemas } from "./kind-registry.ts";
import { kubernetesKindNames } from "./kubernetes/kinds.ts";
import { distance, nearestName } from "./nearest-name.ts";
import type { ParsedObject } from "./parse.ts";

/** Kinds of each group that has any. */
const kindsOf: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ...new Set([
      ...kubernetesKindNames.keys(),
      ...kindSchemas.map(({ group }) => group),
      ...kindSchemas.flatMap(({ aliases }) => aliases),
    ]),
  ].map((group) => [
    group,
    [
      ...(kubernetesKindNames.get(group) ?? []),
      ...kindSchemas.filter((schema) => [schema.group, ...schema.aliases].includes(group)).map(({ kind }) => kind),
    ],
  ]),
);
const groups = [...kindsOf.keys()];
const allKinds = [...new Set(groups.flatMap((group) => kindsOf.get(group) ?? []))];

/** Groups whose kinds are all known: another kind in one of them is a slip. Istio's older groups had many more. */
const completeGroups: ReadonlySet<string> = new Set([
  "networking.istio.io",
  "security.istio.io",
  "telemetry.istio.io",
  "extensions.istio.io",
]);

/**
 * What to say of a kind that nothing here reads. Other systems' kinds are a warning; what nearly is a known one is an error, since
 * no cluster would take it, and somebody believes that it counts.
 */
export function unknownKind(object: ParsedObject): Diagnostic {
  const finding = slip(object) ?? otherSystems(object);
  return at(object.origin, { ...finding, code: "unknown-kind" });
}

type Slip = Pick<Finding, "severity" | "path" | "message" | "hint">;

function slip({ apiVersion, kind }: ParsedObject): Slip | undefined {
  const { group } = groupVersion(apiVersion);
  const here = kindsOf.get(group);
  const isElsewhere = allKinds.includes(kind);
  if (here !== undefined) {
    const right = isElsewhere ? groups.find((known) => kindsOf.get(known)?.includes(kind)) : undefined;
    const meant = nearestName(kind, here);
    if (right === undefined && meant === undefined && !completeGroups.has(group)) return undefined;
    const name = group === "" ? "v1" : group;
    const hint =
      right !== undefined
        ? `${kind} is a kind of ${right || "v1"}`
        : meant === undefined
          ? ""
          : `did you mean ${meant}?`;
    return { severity: "error", path: ["kind"], message: `${kind} is no kind of ${name}`, hint };
  }
  const near = isElsewhere ? groups.find((known) => known !== "" && isNearly(group, known)) : undefined;
  if (near === undefined) return undefined;
  const message = `${group} is no group of ${kind}`;
  return { severity: "error", path: ["apiVersion"], message, hint: `did you mean ${near}?` };
}

/** At most two letters apart: groups of different makers share much of their names. */
function isNearly(group: string, known: string): boolean {
  return Math.abs(group.length - known.length) <= 2 && distance(group, known) <= 2;
}

function otherSystems({ apiVersion, kind }: ParsedObject): Slip {
  const message = `${apiVersion} ${kind} is no kind that is known here`;
  return { severity: "warning", path: ["kind"], message, hint: "the object is kept, and has no effect" };
}
