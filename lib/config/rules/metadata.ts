import { isFields } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { dryRunAnnotation } from "../dry-run.ts";
import { error, type Finding, type Path } from "../finding.ts";
import type { KindSchema } from "../kind-schema.ts";
import { groupVersion } from "../values/group-version.ts";
import { isLabelKey, isLabelValue, longestLabelValue } from "./names.ts";

const booleanText: ReadonlySet<string> = new Set("1 t T TRUE true True 0 f F FALSE false False".split(" "));

const internalAnnotations = ["internal.istio.io/parent-namespace", "internal.istio.io/parents"] as const;

/** Checks that hold for every kind, before its own. @see docs/how-istio-does-it/validation.md#what-holds-for-every-object */
export function* metadataRules(object: ParsedObject, schema: KindSchema, hasFreeNames: boolean): Generator<Finding> {
  const { version } = groupVersion(object.apiVersion);
  if (!schema.versions.includes(version)) {
    const hint = `known: ${schema.versions.join(", ")}`;
    yield error(["apiVersion"], `"${version}" is no version of ${schema.kind}`, hint, "unknown-version");
  }
  yield* objectMetaRules(object, {
    isClusterScoped: schema.clusterScoped,
    nameRule: hasFreeNames ? "pathSegment" : "subdomain",
  });
  const annotations = object.metadata.annotations;
  if (typeof annotations !== "object" || annotations === null) return;
  const values: Readonly<Record<string, unknown>> = { ...annotations };
  yield* dryRunRules(values[dryRunAnnotation], object);
  for (const name of internalAnnotations) {
    if (values[name] !== undefined) yield error(["metadata", "annotations", name], "is for internal use only");
  }
  if (values["internal.istio.io/webhook-always-reject"] !== undefined) {
    yield error(["metadata", "annotations", "internal.istio.io/webhook-always-reject"], "asks to be refused");
  }
}

/** What an API server takes as the name of an object: it depends on the kind, and most take a subdomain. */
export type NameRule = "subdomain" | "label" | "pathSegment";

/**
 * The form of each rule. The parts of a subdomain have no limit of their own, unlike DNS labels: only the whole has one.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */
const nameForms: Readonly<Record<NameRule, { readonly form: RegExp; readonly hint: string }>> = {
  subdomain: {
    form: /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
    hint: "use lower-case letters, digits, - and ., at most 253, a letter or digit at both ends of each part",
  },
  label: {
    form: /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/,
    hint: "use lower-case letters, digits and -, at most 63, a letter or digit at both ends",
  },
  pathSegment: { form: /^(?!\.{1,2}$)[^/%]+$/, hint: "use no / and no %" },
};

/** What holds for the metadata of every object that an API server keeps: its name and namespace, labels and annotations. */
export function objectMetaRules(
  { metadata }: ParsedObject,
  kind: { readonly isClusterScoped: boolean; readonly nameRule: NameRule },
): readonly Finding[] {
  const { name, namespace, labels, annotations } = metadata;
  const findings: Finding[] = [];
  const { form, hint } = nameForms[kind.nameRule];
  if (!form.test(name)) {
    findings.push(error(["metadata", "name"], `${JSON.stringify(name)} is not a valid name of an object`, hint));
  }
  if (namespace !== undefined && !kind.isClusterScoped && !nameForms.label.form.test(namespace)) {
    const message = `${JSON.stringify(namespace)} is no name of a namespace`;
    findings.push(error(["metadata", "namespace"], message, nameForms.label.hint));
  }
  return [...findings, ...labelAndAnnotationRules({ labels, annotations }, ["metadata"])];
}

/** Of an object, or of the template of one. */
export function labelAndAnnotationRules(
  { labels, annotations }: { readonly labels?: unknown; readonly annotations?: unknown },
  path: Path,
): readonly Finding[] {
  const ofLabels = memberFindings(labels, [...path, "labels"], labelFindings);
  const ofAnnotations = memberFindings(annotations, [...path, "annotations"], annotationFindings);
  return ofAnnotations.length === 0 ? ofLabels : [...ofLabels, ...ofAnnotations];
}

/** @param path of the object that the member is one of */
type MemberRule = (key: string, value: string, path: Path) => readonly Finding[];

const none: readonly never[] = [];

const labelFindings: MemberRule = (key, value, path) => {
  const isGoodKey = isLabelKey(key);
  const isGoodValue = isLabelValue(value) && value.length <= longestLabelValue;
  if (isGoodKey && isGoodValue) return none;
  const hint = `use letters, digits, -, _ and ., at most ${longestLabelValue}, a letter or digit at both ends`;
  return [
    ...(isGoodKey ? none : [error([...path, key], `${JSON.stringify(key)} is not a label key`)]),
    ...(isGoodValue ? none : [error([...path, key], `${JSON.stringify(value)} is not a label value`, hint)]),
  ];
};

const annotationFindings: MemberRule = (key, _value, path) =>
  isLabelKey(key) ? none : [error([...path, key], `${JSON.stringify(key)} is not an annotation key`)];

/** Of the members of an object, all of which have to be texts. */
function memberFindings(value: unknown, path: Path, rule: MemberRule): readonly Finding[] {
  if (value === undefined || value === null) return none;
  if (!isFields(value)) return [error(path, "must be an object of texts")];
  // Most objects give no reason to make a list.
  let findings: Finding[] | undefined;
  for (const key in value) {
    const member = value[key];
    const found = typeof member === "string" ? rule(key, member, path) : noTextFindings(key, member, path);
    if (found.length > 0) findings ??= [];
    for (const one of found) findings?.push(one);
  }
  return findings ?? none;
}

function noTextFindings(key: string, member: unknown, path: Path): readonly Finding[] {
  if (member === null) return none;
  return [error([...path, key], `${JSON.stringify(member)} must be a text`, "put it between quotes")];
}

function* dryRunRules(value: unknown, object: ParsedObject): Generator<Finding> {
  if (value === undefined) return;
  const path = ["metadata", "annotations", dryRunAnnotation];
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
