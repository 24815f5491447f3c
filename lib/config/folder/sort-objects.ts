import { type Diagnostic, errorsOf, identityText, kindText, type Origin } from "../../base/diagnostic.ts";
import { fieldsOf } from "../../base/untyped.ts";
import type { Config } from "../config.ts";
import { toolsObject, unfilledObject } from "../documents/foreign-document.ts";
import { fromOldSpelling } from "../documents/old-spelling.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { unknownKind } from "../documents/unknown-kind.ts";
import { closeObject } from "../fail-closed/close-object.ts";
import type { ClosedObject } from "../fail-closed/closed-object.ts";
import { at } from "../finding.ts";
import { schemaOf } from "../kind-registry.ts";
import { kubernetesKindOf } from "../kubernetes/kinds.ts";
import { readKubernetesObject } from "../kubernetes/read-object.ts";
import { type ReadOptions, readConfig } from "../read-config.ts";
import { leftOutFindings } from "../secrets/left-out.ts";
import { hasLeftOutValues, isSecret, secretLeftOut, withoutValues } from "../secrets/secret-objects.ts";
import { groupVersion } from "../values/group-version.ts";
import { inNamespace } from "./in-namespace.ts";

/** The objects of a source, told apart by who reads them. */
export interface SortedObjects {
  /** Istio's kinds, Ingress and IngressClass; validated, one per key. */
  readonly configs: readonly Config[];
  /** Kubernetes objects, valid and as written but for the values of Secrets, which go no further; one per key. */
  readonly objects: readonly ParsedObject[];
  /** Kinds that nothing here knows, kept as written; not what nearly is a known one, which is refused. */
  readonly others: readonly ParsedObject[];
  /** What closes what refused security objects select: it counts where no valid form of the object is served. */
  readonly closed: readonly ClosedObject[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Tells configuration from Kubernetes objects, and validates both. Of two objects with one key the later one counts, as if
 * they had been applied in order; it is an error all the same, since nobody means both.
 *
 * @returns each list in the order of its input; diagnostics of `readConfig` and `readKubernetesObject`, `duplicate-object`,
 *   `unknown-kind` and `secret-in-source`
 */
export function sortObjects(parsed: readonly ParsedObject[], given: ReadOptions = {}): SortedObjects {
  /** Lines are found by the objects that were read. */
  const written = new Map<ParsedObject, ParsedObject>();
  const { sourceOf } = given;
  const options: ReadOptions =
    sourceOf === undefined ? given : { ...given, sourceOf: (object) => sourceOf(written.get(object) ?? object) };
  const configs = new Map<string, Config>();
  const objects = new Map<string, ParsedObject>();
  const others: ParsedObject[] = [];
  const closed: ClosedObject[] = [];
  const refuse = (object: ParsedObject, found: readonly Diagnostic[]): void => {
    const closing = closeObject(fromOldSpelling(object), found, options);
    if (closing !== undefined) closed.push(closing);
  };
  const diagnostics: Diagnostic[] = [];
  for (const read of parsed) {
    const object = inNamespace(read, options);
    if (object !== read) written.set(object, read);
    const leftOut = leftOutFindings(object);
    if (leftOut.length > 0) {
      diagnostics.push(...leftOut);
      refuse(object, leftOut);
      continue;
    }
    const foreign = options.sourceOf?.(object)?.foreign;
    if (foreign !== undefined) {
      diagnostics.push(at(object.origin, { ...foreign, path: [] }));
      refuse(object, []);
      continue;
    }
    const { group } = groupVersion(object.apiVersion);
    const kubernetes = kubernetesKindOf(group, object.kind);
    if (isConfig(object)) {
      const { value, diagnostics: found } = readConfig(object, options);
      diagnostics.push(...(value === undefined ? withoutVariables(object, found, options) : found));
      if (value !== undefined) {
        const key = identityText(value.origin.key);
        const earlier = configs.get(key);
        if (earlier !== undefined) diagnostics.push(duplicateObject(earlier.origin, value.origin));
        configs.set(key, value);
      } else refuse(object, found);
    } else if (kubernetes !== undefined) {
      const { value, diagnostics: found } = readKubernetesObject(withoutValues(object), options);
      diagnostics.push(...(value === undefined ? withoutVariables(object, found, options) : found));
      if (isSecret(object) && hasLeftOutValues(object)) diagnostics.push(secretLeftOut(object));
      if (value !== undefined) {
        const key = identityText(value.origin.key);
        const earlier = objects.get(key);
        if (earlier !== undefined) diagnostics.push(duplicateObject(earlier.origin, value.origin));
        objects.set(key, value);
      }
    } else {
      const tools = toolsObject(object.apiVersion, object.kind);
      const found = tools === undefined ? unknownKind(object) : at(object.origin, { ...tools, path: [] });
      diagnostics.push(found);
      if (found.severity === "error") refuse(object, [found]);
      else others.push(object);
    }
  }
  return { configs: [...configs.values()], objects: [...objects.values()], others, closed, diagnostics };
}

/** What is said of a refused object: one line where nothing is wrong but variables that another program fills in. */
function withoutVariables(
  object: ParsedObject,
  found: readonly Diagnostic[],
  { sourceOf }: ReadOptions,
): readonly Diagnostic[] {
  const values = errorsOf(found).map(({ path }) => valueAt(object, path));
  const about = unfilledObject(object, values, sourceOf?.(object)?.isYtt);
  return about === undefined ? found : [at(found[0]?.origin ?? object.origin, { ...about, path: [] })];
}

const valueAt = (object: ParsedObject, path: Diagnostic["path"]): unknown =>
  path.reduce<unknown>((value, step) => (Array.isArray(value) ? value[Number(step)] : fieldsOf(value)[step]), object);

/** Whether an object is configuration, known under today's or an old name of its kind. */
export function isConfig(object: ParsedObject): boolean {
  const { kind, apiVersion } = fromOldSpelling(object);
  return schemaOf(groupVersion(apiVersion).group, kind) !== undefined;
}

/**
 * Says that an object was given twice.
 *
 * @param later of the object that counts
 * @param severity of two sources the later one may be meant to change what the earlier one says
 */
export function duplicateObject(earlier: Origin, later: Origin, severity: "error" | "warning" = "error"): Diagnostic {
  const place = earlier.line > 0 ? `${earlier.file}:${earlier.line}` : earlier.file;
  const message = `${kindText(later.key)} ${later.key.name} was already given at ${place}`;
  const hint = "this later one counts; remove one of them";
  return at(later, { code: "duplicate-object", severity, path: [], message, hint });
}
