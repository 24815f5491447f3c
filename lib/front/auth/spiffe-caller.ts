import { type Identified, refused } from "./authentication.ts";
import type { NodeCaller } from "./caller.ts";
import { callerOf, type Subjects } from "./subjects.ts";

/** Which SPIFFE ids are believed once a certificate has proven them. */
export interface TrustedIdentities {
  readonly trustDomains: ReadonlySet<string>;
  /** Id of the cluster whose workloads have these certificates; absent: not said, since a SPIFFE id names none. */
  readonly clusterId?: string;
}

/** The caller whose certificate has proven a SPIFFE id. An id of another form than Istio's has to be granted something. */
export function callerOfSpiffeId(
  id: string,
  { trustDomains, clusterId }: TrustedIdentities,
  subjects: Subjects,
): Identified {
  const [, trustDomain = "", namespace = "", serviceAccount = ""] =
    /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(id) ?? /^spiffe:\/\/([^/]+)\//.exec(id) ?? [];
  if (!trustDomains.has(trustDomain)) return refused(401, `${id} is of no trusted domain`);
  const cluster = clusterId === undefined ? {} : { clusterId };
  const itself: NodeCaller = { kind: "node", subject: id, namespace, serviceAccount, ...cluster };
  return callerOf(subjects, { subject: id, clusterId, itself: namespace === "" ? undefined : itself });
}
