import { type Identified, identified, refused } from "./authentication.ts";
import type { NodeCaller } from "./caller.ts";

/** What an operator grants to a subject whose name says nothing of a namespace, or grants besides. */
export type Grant = GrantedScope & {
  /**
   * Id of a cluster. It is for subjects of that cluster alone where their issuer says which one theirs is, and for no subject without one
   * where it grants more than a node has; a node whose issuer says none is taken to be in this cluster.
   */
  readonly clusterId?: string;
};

type GrantedScope =
  | { readonly scope: "operator" | "v1" }
  | { readonly scope: "node"; readonly namespace: string; readonly serviceAccount?: string };

/** Grants by subject; one that ends with `*` is for all that begin so. */
export type Subjects = ReadonlyMap<string, Grant>;

/** Who has proven to be a subject. */
export interface Proven {
  readonly subject: string;
  /** Id of the cluster that it is in, where that was proven too. */
  readonly clusterId?: string | undefined;
  /** What it is by its own name, without any grant. */
  readonly itself?: NodeCaller | undefined;
}

/** What a subject may do: what is granted to it, else what it is by its own name. Its cluster is the proven one in both cases. */
export function callerOf(subjects: Subjects, { subject, clusterId, itself }: Proven): Identified {
  const grant = grantTo(subjects, subject, clusterId);
  if (grant === undefined)
    return itself === undefined ? refused(401, `nothing is granted to ${subject}`) : identified(itself);
  if (grant.scope !== "node") return identified({ kind: grant.scope, subject });
  const { namespace, serviceAccount } = grant;
  const cluster = clusterId ?? grant.clusterId;
  return identified({
    kind: "node",
    subject,
    namespace,
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
    ...(cluster === undefined ? {} : { clusterId: cluster }),
  });
}

const isFor = (grant: Grant, clusterId: string | undefined): boolean =>
  grant.clusterId === undefined || grant.clusterId === clusterId || (grant.scope === "node" && clusterId === undefined);

function grantTo(subjects: Subjects, subject: string, clusterId: string | undefined): Grant | undefined {
  const fitting = [...subjects].filter(
    ([key, grant]) =>
      isFor(grant, clusterId) && (key === subject || (key.endsWith("*") && subject.startsWith(key.slice(0, -1)))),
  );
  // One that names the subject says more than a beginning, and of those the longest says most.
  const [best] = fitting.sort(([a], [b]) => Number(b === subject) - Number(a === subject) || b.length - a.length);
  return best?.[1];
}
