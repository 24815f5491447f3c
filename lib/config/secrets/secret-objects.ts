import type { Diagnostic } from "../../base/diagnostic.ts";
import { fieldsOf } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { at, error, warning } from "../finding.ts";
import { groupVersion } from "../values/group-version.ts";
import { keyPairFact, rootFact, secretFacts } from "./secret-facts.ts";

/** Kubernetes' Secret. */
export const isSecret = ({ apiVersion, kind }: ParsedObject): boolean =>
  kind === "Secret" && groupVersion(apiVersion).group === "";

/** An object as it may go on: of a Secret the names of its values are left, and whether they can be
 * used, since others ask for that. */
export function withoutValues(object: ParsedObject): ParsedObject {
  if (!isSecret(object)) return object;
  const { apiVersion, kind, metadata, origin, type, data, stringData } = object;
  const { name, namespace, labels } = metadata;
  const names = [data, stringData].flatMap((values) =>
    typeof values === "object" && values !== null ? Object.keys(values) : [],
  );
  return {
    apiVersion,
    kind,
    // Annotations may hold the whole object once more, as kubectl last applied it.
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      annotations: secretFacts(object),
    },
    ...(type === undefined ? {} : { type }),
    data: Object.fromEntries(names.map((key) => [key, ""])),
    origin,
  };
}

/** Whether a Secret holds anything that must not be stored: a value, or an annotation, which may hold the whole object once more. */
export const holdsValues = (secret: ParsedObject): boolean =>
  hasValue(secret) || Object.keys(fieldsOf(secret.metadata.annotations)).some((name) => !isFact(name));

const hasValue = ({ data, stringData }: ParsedObject): boolean =>
  [data, stringData].some((values) => Object.values(fieldsOf(values)).some((value) => value !== "" && value !== null));

const isFact = (annotation: string): boolean => annotation === keyPairFact || annotation === rootFact;

/** Whether values were left out of a Secret, or are to be. */
export const hasLeftOutValues = (secret: ParsedObject): boolean =>
  hasValue(secret) || fieldsOf(secret.metadata.annotations)[keyPairFact] !== undefined;

export const secretHint = "remove it, and store it encrypted with `portolan secret apply`";

export const secretLeftOut = ({ origin }: ParsedObject): Diagnostic =>
  at(
    origin,
    warning(
      [],
      "configuration is no place for a Secret: its values are left out, and stored nowhere; what refers to it finds it by its name",
      secretHint,
      "secret-in-source",
    ),
  );

export const secretRefused = ({ origin }: ParsedObject): Diagnostic =>
  at(origin, error([], "a Secret would be stored in clear text", secretHint, "secret-in-source"));
