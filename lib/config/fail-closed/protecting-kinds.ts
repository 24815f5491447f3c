import type { ConfigKey } from "../../base/diagnostic.ts";
import type { Path } from "../finding.ts";
import { schemaOf } from "../kind-registry.ts";
import { harmless, type Protection, protections } from "./protections.ts";
import { statesTls } from "./states-tls.ts";

const protectionOf = ({ group, kind }: Pick<ConfigKey, "group" | "kind">): Protection =>
  protections.get(`${schemaOf(group, kind)?.group ?? group}/${kind}`) ?? harmless;

/** Whether no field of an object may be ignored, from whatever source it comes. */
export const protects = (key: Pick<ConfigKey, "group" | "kind">): boolean => protectionOf(key).unknown === "all";

/** Whether the kind has TLS settings, of which none may be ignored. */
export const hasTlsSettings = (key: Pick<ConfigKey, "group" | "kind">): boolean =>
  ["tls", "all-with-tls"].includes(protectionOf(key).unknown);

/**
 * Whether a field that is not known may not be ignored.
 *
 * @param spec of the object, as written
 * @param path of the field
 */
export function mayProtect(key: Pick<ConfigKey, "group" | "kind">, spec: unknown, path: Path): boolean {
  const names = (pattern: RegExp) => path.some((step) => pattern.test(String(step)));
  switch (protectionOf(key).unknown) {
    case "all":
      return true;
    case "all-with-tls":
      return statesTls(spec);
    case "tls":
      return names(/tls/i);
    case "authorization":
      return names(/auth/i);
    case "none":
      return false;
  }
}
