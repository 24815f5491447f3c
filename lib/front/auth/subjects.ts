import { type Identified, identified, refused } from "./authentication.ts";
import type { Caller } from "./caller.ts";

/** What an operator grants to a subject whose name says nothing of a namespace, or grants besides. */
export type Grant =
  | { readonly scope: "operator" | "v1" }
  | { readonly scope: "node"; readonly namespace: string; readonly serviceAccount?: string };

/** Grants by subject; one that ends with `*` is for all that begin so. */
export type Subjects = ReadonlyMap<string, Grant>;

/** @param itself what the subject is by its own name, without any grant */
export function callerOf(subjects: Subjects, subject: string, itself?: Caller): Identified {
  const grant = grantTo(subjects, subject);
  if (grant === undefined)
    return itself === undefined ? refused(401, `nothing is granted to ${subject}`) : identified(itself);
  if (grant.scope !== "node") return identified({ kind: grant.scope, subject });
  const { namespace, serviceAccount } = grant;
  return identified({
    kind: "node",
    subject,
    namespace,
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
  });
}

function grantTo(subjects: Subjects, subject: string): Grant | undefined {
  const exact = subjects.get(subject);
  if (exact !== undefined) return exact;
  const prefixes = [...subjects.keys()].filter((key) => key.endsWith("*") && subject.startsWith(key.slice(0, -1)));
  // The longest says most.
  const [longest] = prefixes.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : subjects.get(longest);
}
