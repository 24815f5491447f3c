import type { Config } from "./config.ts";
import { type Diagnostic, keyText, kindText } from "./diagnostic.ts";
import { at, warning } from "./finding.ts";
import { groupVersion } from "./group-version.ts";
import { isPlatformKind, knownKindNames, schemaOf } from "./kind-registry.ts";
import { nearestName } from "./nearest-name.ts";
import { fromOldSpelling } from "./old-spelling.ts";
import type { ParsedObject } from "./parse.ts";
import { type ReadOptions, readConfig } from "./read-config.ts";
import { isSecret, secretLeftOut, withoutValues } from "./secret-objects.ts";

/** The objects of a source, told apart by who reads them. */
export interface SortedObjects {
  /** Istio's kinds, Ingress and IngressClass; validated, one per key. */
  readonly configs: readonly Config[];
  /** Kubernetes objects that a registry reads, as written but for the values of Secrets, which go no further; one per key. */
  readonly objects: readonly ParsedObject[];
  /** Kinds that nothing here knows, kept as written. */
  readonly others: readonly ParsedObject[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Tells configuration from Kubernetes objects and validates it. Of two objects with one key the later one counts, as if
 * they had been applied in order.
 *
 * @returns each list in the order of its input; diagnostics of `readConfig`, `duplicate-object`, `unknown-kind` and `secret-in-source`
 */
export function sortObjects(parsed: readonly ParsedObject[], options: ReadOptions = {}): SortedObjects {
  const configs = new Map<string, Config>();
  const objects = new Map<string, ParsedObject>();
  const others: ParsedObject[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const object of parsed) {
    const { group } = groupVersion(object.apiVersion);
    if (isConfig(object)) {
      const { value, diagnostics: found } = readConfig(object, options);
      diagnostics.push(...found);
      if (value !== undefined) {
        const key = keyText(value.origin.key);
        const earlier = configs.get(key);
        if (earlier !== undefined) diagnostics.push(duplicateObject(earlier.origin, value.origin));
        configs.set(key, value);
      }
    } else if (isPlatformKind(group, object.kind)) {
      const key = keyText(object.origin.key);
      const earlier = objects.get(key);
      if (earlier !== undefined) diagnostics.push(duplicateObject(earlier.origin, object.origin));
      if (isSecret(object)) diagnostics.push(secretLeftOut(object));
      objects.set(key, withoutValues(object));
    } else {
      others.push(object);
      diagnostics.push(unknownKind(object));
    }
  }
  return { configs: [...configs.values()], objects: [...objects.values()], others, diagnostics };
}

/** Whether an object is configuration, known under today's or an old name of its kind. */
function isConfig(object: ParsedObject): boolean {
  const { kind, apiVersion } = fromOldSpelling(object);
  return schemaOf(groupVersion(apiVersion).group, kind) !== undefined;
}

/** Says that an object was given twice. */
export function duplicateObject(earlier: Diagnostic["origin"], later: Diagnostic["origin"]): Diagnostic {
  return at(
    later,
    warning(
      [],
      `${kindText(later.key)} ${later.key.name} was already given at ${earlier.file}:${earlier.line}`,
      "the later one counts; remove one of them",
      "duplicate-object",
    ),
  );
}

function unknownKind(object: ParsedObject): Diagnostic {
  const meant = nearestName(object.kind, knownKindNames);
  return at(
    object.origin,
    warning(
      ["kind"],
      `${object.apiVersion} ${object.kind} is no kind that is known here`,
      meant === undefined ? "the object is kept, and has no effect" : `did you mean ${meant}?`,
      "unknown-kind",
    ),
  );
}
