import { protections } from "./protections.ts";

/** What of objects that fail closed is to be seen in a text that holds none which can be read. */
export interface ShownObjects {
  /** With their groups; those that select nothing without being read are among them. */
  readonly kinds: readonly { readonly group: string; readonly kind: string }[];
  /** Empty: none is written. "": they may be any. */
  readonly namespaces: readonly string[];
}

/** So many namespaces of one text are closed; one that names more, or one that cannot be read, closes the whole mesh. */
const maxNamespaces = 16;

const securityGroup = "security.istio.io";

const groups: ReadonlyMap<string, string> = new Map(
  [...protections].flatMap(([of, { refused }]) => {
    const [group = "", kind = ""] = of.split("/");
    return refused === "closes" ? [[kind, group] as const] : [];
  }),
);

/** Between a field's name and its value, whatever signs stand there. */
const sign = String.raw`[^\p{L}\p{N}]{1,8}`;
const kinds = new RegExp(String.raw`\bkind${sign}(${[...groups.keys()].join("|")})\b`, "giu");
const inSecurityGroup = new RegExp(String.raw`\bapiVersion${sign}security\.istio\.io\b`, "iu");
/** Other systems have a Policy, too. */
const inOldGroup = /\bauthentication\.istio\.io\b/;
const namespaceField = /\bnamespace["']?[ \t]*:/g;
const namespaceName = /["']?\bnamespace["']?[ \t]*:[ \t]*["']?([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)(?=["'\s,}]|$)/g;

/** @param text of a document that cannot be read, or JSON of one that is no object */
export function shownObjects(text: string): ShownObjects {
  const named = [...new Set(Array.from(text.matchAll(kinds), ([, kind = ""]) => kind))].filter(
    (kind) => kind !== "Policy" || inOldGroup.test(text),
  );
  // Whatever stands in the group of policies was to protect something.
  const found = named.length === 0 && inSecurityGroup.test(text) ? ["AuthorizationPolicy"] : named;
  const written = Array.from(text.matchAll(namespaceName), ([, name = ""]) => name);
  const isRead = written.length === Array.from(text.matchAll(namespaceField)).length;
  const names = [...new Set(written)];
  return {
    kinds: found.map((kind) => ({ group: groups.get(kind) ?? securityGroup, kind })),
    namespaces: isRead && names.length <= maxNamespaces ? names : [""],
  };
}
