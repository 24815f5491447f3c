import { error, type Finding, type Path } from "../../finding.ts";
import { duplicates } from "../../rules/values.ts";
import type { CommonRoute } from "../http-route.ts";
import type { BackendObjectReference, ParentReference } from "../reference.ts";

interface RuleNames extends CommonRoute {
  readonly rules?: readonly { readonly name?: string }[];
}

/** What holds for routes of every kind. */
export function* commonRouteRules({ parentRefs = [], rules = [] }: RuleNames): Generator<Finding> {
  yield* parentRules(parentRefs);
  for (const [index, name] of duplicates(rules.map(({ name: given }) => given ?? ""))) {
    if (name !== "") yield error(["rules", index, "name"], `${JSON.stringify(name)} is given twice`);
  }
}

const parentOf = ({ group, kind, name, namespace = "" }: ParentReference): string =>
  `${group}/${kind}/${namespace}/${name}`;
const partOf = ({ sectionName = "", port = 0 }: ParentReference): string => `${sectionName}/${port}`;

/** Several references to one parent name different parts of it, each in the same way. */
function* parentRules(parentRefs: readonly ParentReference[]): Generator<Finding> {
  const first = new Map<string, ParentReference>();
  for (const [index, ref] of parentRefs.entries()) {
    const earlier = first.get(parentOf(ref));
    if (earlier === undefined) first.set(parentOf(ref), ref);
    else if (
      (earlier.sectionName === undefined) !== (ref.sectionName === undefined) ||
      (earlier.port === undefined) !== (ref.port === undefined)
    ) {
      const hint = "name the listener or the port in each reference to one parent";
      yield error(["parentRefs", index], "names a parent again, and not as before", hint, "conflicting-fields");
    }
  }
  for (const [index] of duplicates(parentRefs.map((ref) => `${parentOf(ref)} ${partOf(ref)}`))) {
    yield error(["parentRefs", index], "names a parent that is named before");
  }
}

export function* backendRules({ group, kind, port }: BackendObjectReference, path: Path): Generator<Finding> {
  if (group === "" && kind === "Service" && port === undefined) {
    yield error([...path, "port"], "is required for a Service", "", "missing-field");
  }
}
