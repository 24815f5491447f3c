import { describe, expect, it } from "vitest";
import type { Caller } from "../../../lib/front/auth/caller.ts";
import { completed, identityOf } from "../../../lib/front/auth/caller.ts";
import { callerOf, type Grant } from "../../../lib/front/auth/subjects.ts";
import { callerOfToken } from "../../../lib/front/auth/token.ts";

const subject = "system:serviceaccount:ops:reader";
const itself = { kind: "node", subject, namespace: "ops", serviceAccount: "reader" } as const;
const callerBy = (grants: Readonly<Record<string, Grant>>, clusterId?: string) =>
  callerOf(new Map(Object.entries(grants)), { subject, clusterId, itself });

describe("a grant", () => {
  it.each([
    ["east", { kind: "operator" }],
    ["west", { kind: "node", namespace: "ops" }],
    [undefined, { kind: "node", namespace: "ops" }],
  ])("of an operator's scope to a cluster is for subjects that have proven it: %s", (clusterId, caller) => {
    expect(callerBy({ [subject]: { scope: "operator", clusterId: "east" } }, clusterId)).toMatchObject({ caller });
  });

  it.each([
    [undefined, "east", "east"],
    ["east", undefined, "east"],
    ["east", "east", "east"],
    [undefined, undefined, undefined],
  ])("of a namespace, to cluster %s, keeps the proven cluster %s", (granted, proven, clusterId) => {
    const grant = {
      scope: "node",
      namespace: "shop",
      ...(granted === undefined ? {} : { clusterId: granted }),
    } as const;
    const found = callerBy({ [subject]: grant }, proven);
    expect(found).toMatchObject({ kind: "identified", caller: { namespace: "shop" } });
    expect(found.kind === "identified" && found.caller.kind === "node" && found.caller.clusterId).toBe(clusterId);
  });

  it("to another cluster hides none of a shorter name", () => {
    const grants = { [subject]: { scope: "v1", clusterId: "east" }, "system:*": { scope: "operator" } } as const;
    expect(callerBy(grants, "east")).toMatchObject({ caller: { kind: "v1" } });
    expect(callerBy(grants, "west")).toMatchObject({ caller: { kind: "operator" } });
  });
});

describe("a token of our own", () => {
  const grant = { scope: "node", namespace: "shop" };
  it("proves a cluster, and nothing where it says one that is no text", () => {
    expect(callerOfToken("a", { ...grant, clusterId: "east" })).toMatchObject({ clusterId: "east" });
    expect(callerOfToken("a", grant)).not.toHaveProperty("clusterId");
    for (const clusterId of [0, "", null, ["east"]])
      expect(callerOfToken("a", { ...grant, clusterId })).toBeUndefined();
  });
});

describe("what was proven", () => {
  const proven: Caller = { ...itself, clusterId: "east" };
  it.each([
    [{ LABELS: {} }],
    [{ CLUSTER_ID: "", SERVICE_ACCOUNT: "", NAMESPACE: "" }],
    [{ CLUSTER_ID: 0, NAMESPACE: 0 }],
  ])("stands in place of what a node says: %j", (metadata) => {
    const claims = { id: "a", cluster: "", locality: "", metadata };
    expect(completed(proven, claims).metadata).toMatchObject({
      CLUSTER_ID: "east",
      SERVICE_ACCOUNT: "reader",
      NAMESPACE: "ops",
    });
  });

  it("tells callers of one name apart by their clusters", () => {
    const all: readonly Caller[] = [proven, { ...itself, clusterId: "west" }, itself, { kind: "anyone" }];
    expect(new Set(all.map(identityOf)).size).toBe(all.length);
  });
});
