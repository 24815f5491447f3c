import { error, type Finding } from "../finding.ts";
import { groupVersion } from "../group-version.ts";
import type { KindSchema } from "../kind-schema.ts";
import type { ParsedObject } from "../parse.ts";

const booleanText: ReadonlySet<string> = new Set("1 t T TRUE true True 0 f F FALSE false False".split(" "));

const internalAnnotations = ["internal.istio.io/parent-namespace", "internal.istio.io/parents"] as const;

/** Checks that hold for every kind, before its own. @see docs/how-istio-does-it/validation.md#what-holds-for-every-object */
export function* metadataRules(object: ParsedObject, schema: KindSchema): Generator<Finding> {
  const { version } = groupVersion(object.apiVersion);
  if (!schema.versions.includes(version)) {
    const hint = `known: ${schema.versions.join(", ")}`;
    yield error(["apiVersion"], `"${version}" is no version of ${schema.kind}`, hint, "unknown-version");
  }
  yield* stringMapRules(object.metadata.labels, "labels");
  yield* stringMapRules(object.metadata.annotations, "annotations");
  const annotations = object.metadata.annotations;
  if (typeof annotations !== "object" || annotations === null) return;
  const values: Readonly<Record<string, unknown>> = { ...annotations };
  yield* dryRunRules(values["istio.io/dry-run"], object);
  for (const name of internalAnnotations) {
    if (values[name] !== undefined) yield error(["metadata", "annotations", name], "is for internal use only");
  }
  if (values["internal.istio.io/webhook-always-reject"] !== undefined) {
    yield error(["metadata", "annotations", "internal.istio.io/webhook-always-reject"], "asks to be refused");
  }
}

function* stringMapRules(value: unknown, name: "labels" | "annotations"): Generator<Finding> {
  if (value === undefined || value === null) return;
  if (typeof value !== "object" || Array.isArray(value)) {
    yield error(["metadata", name], "must be an object of texts");
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === "string" || member === null) continue;
    yield error(["metadata", name, key], `${JSON.stringify(member)} must be a text`, "put it between quotes");
  }
}

function* dryRunRules(value: unknown, object: ParsedObject): Generator<Finding> {
  if (value === undefined) return;
  const path = ["metadata", "annotations", "istio.io/dry-run"];
  if (object.kind !== "AuthorizationPolicy") {
    yield error(path, `has no meaning on a ${object.kind}`, "only an AuthorizationPolicy can be tried out");
    return;
  }
  const spec: unknown = object.spec;
  const action = typeof spec === "object" && spec !== null && "action" in spec ? spec.action : "ALLOW";
  if (action === "AUDIT" || action === "CUSTOM") yield error(path, `is not supported for action ${action}`);
  else if (typeof value !== "string" || !booleanText.has(value))
    yield error(path, `${JSON.stringify(value)} must be true or false`);
}
