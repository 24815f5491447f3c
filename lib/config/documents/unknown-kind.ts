import type { ConfigKey, Diagnostic, GroupKind } from "../../base/diagnostic.ts";
import { distance, nearestName } from "../../base/nearest-name.ts";
import { at, type Finding } from "../finding.ts";
import { kindSchemas, schemaOf } from "../kind-registry.ts";
import { kubernetesKindNames } from "../kubernetes/kinds.ts";
import { groupVersion } from "../values/group-version.ts";
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

/**
 * What an object of an unknown kind may be meant to be, as the keys of valid objects are. Where several groups have the kind
 * that is written, there is one key for each.
 *
 * @returns nothing for another system's kind, and for one that comes near none
 */
export function meantKeys(written: ConfigKey): readonly ConfigKey[] {
  return meantKinds(written).map(({ group, kind }) => {
    const schema = schemaOf(group, kind);
    if (schema === undefined) return { ...written, group, kind };
    const namespace = schema.clusterScoped ? "" : written.namespace || "default";
    return { group: schema.group, kind, name: written.name, namespace };
  });
}

/** The known kinds that are nearly what is written; the first one is suggested. */
function meantKinds({ group, kind }: GroupKind): readonly GroupKind[] {
  const here = kindsOf.get(group);
  const elsewhere = groups.filter((known) => kindsOf.get(known)?.includes(kind));
  if (here === undefined) {
    const near = elsewhere.filter((known) => known !== "" && isNearly(group, known));
    return near.map((known) => ({ group: known, kind }));
  }
  if (elsewhere.length > 0) return elsewhere.map((known) => ({ group: known, kind }));
  const meant = nearestName(kind, here);
  return meant === undefined ? [] : [{ group, kind: meant }];
}

type Slip = Pick<Finding, "severity" | "path" | "message" | "hint">;

function slip({ apiVersion, kind }: ParsedObject): Slip | undefined {
  const { group } = groupVersion(apiVersion);
  const [meant] = meantKinds({ group, kind });
  if (kindsOf.has(group)) {
    if (meant === undefined && !completeGroups.has(group)) return undefined;
    return {
      severity: "error",
      path: ["kind"],
      message: `${kind} is no kind of ${group || "v1"}`,
      hint: hintOf(kind, meant),
    };
  }
  if (meant === undefined) return undefined;
  const message = `${group} is no group of ${kind}`;
  return { severity: "error", path: ["apiVersion"], message, hint: `did you mean ${meant.group}?` };
}

function hintOf(kind: string, meant: GroupKind | undefined): string {
  if (meant === undefined) return "";
  return meant.kind === kind ? `${kind} is a kind of ${meant.group || "v1"}` : `did you mean ${meant.kind}?`;
}

/** At most two letters apart, since groups of different makers share much of their names; or both of Istio's. */
function isNearly(group: string, known: string): boolean {
  if (known.endsWith(".istio.io") && /\bistio\b/i.test(group)) return true;
  return Math.abs(group.length - known.length) <= 2 && distance(group, known) <= 2;
}

function otherSystems({ apiVersion, kind }: ParsedObject): Slip {
  const message = `${apiVersion} ${kind} is no kind that is known here`;
  return { severity: "warning", path: ["kind"], message, hint: "the object is kept, and has no effect" };
}
