import { describe, expect, it } from "vitest";
import { environmentOf, expand } from "../../../lib/registry/kubernetes/environment.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web-0",
    namespace: "shop",
    uid: "0a1b",
    labels: { app: "web" },
    annotations: { "example.com/note": "a=b" },
  },
  spec: { nodeName: "worker-1", serviceAccountName: "web" },
  status: { hostIP: "192.0.2.1", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] },
  origin: { key: { group: "", kind: "Pod", name: "web-0", namespace: "shop" }, file: "", line: 0 },
};

const read = (env: readonly object[], resources: object = {}) => {
  const { values, elsewhere } = environmentOf({ pod, container: { env, resources } });
  return { values: Object.fromEntries(values), elsewhere };
};

describe("a reference to a field of the pod", () => {
  it.each([
    ["metadata.name", "web-0"],
    ["metadata.namespace", "shop"],
    ["metadata.uid", "0a1b"],
    ["metadata.labels['app']", "web"],
    ["metadata.labels['none']", ""],
    ["metadata.annotations['example.com/note']", "a=b"],
    ["spec.nodeName", "worker-1"],
    ["spec.serviceAccountName", "web"],
    ["status.hostIP", "192.0.2.1"],
    ["status.podIP", "10.0.0.1"],
    ["status.podIPs", "10.0.0.1,fd00::1"],
  ])("%s is %s", (fieldPath, value) => {
    expect(read([{ name: "A", valueFrom: { fieldRef: { fieldPath } } }]).values).toEqual({ A: value });
  });

  it("that nobody knows is no variable", () => {
    expect(read([{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.priority" } } }]).values).toEqual({});
  });
});

describe("a reference to the container's CPU limit", () => {
  it.each([
    ["2", "1", "2"],
    [2, "1", "2"],
    ["1500m", "1", "2"],
    ["500m", "1m", "500"],
    ["250m", undefined, "1"],
  ])("of %s, divided by %s, is %s", (cpu, divisor, value) => {
    const env = [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor } } }];
    expect(read(env, { limits: { cpu } }).values).toEqual({ A: value });
  });

  it("without a limit is the node's, which nobody knows here", () => {
    const env = [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }];
    expect(read(env)).toEqual({ values: {}, elsewhere: [] });
  });
});

describe("a value", () => {
  it("may name variables before it, and no others", () => {
    const env = [
      { name: "A", value: "$(B)" },
      { name: "B", value: "b" },
      { name: "C", value: "$(A)-$(B)-$(D)-$$(B)" },
    ];
    expect(read(env).values).toEqual({ A: "$(B)", B: "b", C: "$(B)-b-$(D)-$(B)" });
  });

  it("is the last one of its name", () => {
    expect(
      read([
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ]).values,
    ).toEqual({ A: "2" });
  });

  it.each(["configMapKeyRef", "secretKeyRef", "fileKeyRef"])("that stands in a %s is not known", (from) => {
    const env = [
      { name: "A", value: "1" },
      { name: "A", valueFrom: { [from]: { name: "x", key: "y" } } },
    ];
    expect(read(env)).toEqual({ values: {}, elsewhere: ["A"] });
  });
});

it("does not grow beyond what a process can be given", () => {
  const doubling = Array.from({ length: 40 }, (_, at) => ({ name: `V${at + 1}`, value: `$(V${at})$(V${at})` }));
  const { values } = read([{ name: "V0", value: "0123456789" }, ...doubling]);
  expect(Math.max(...Object.values(values).map((value) => value.length))).toBeLessThanOrEqual(131_072);
  expect(values.V3).toHaveLength(80);
});

it("is not confused by dollars that name nothing", () => {
  expect(expand("$HOME $() $(A $", new Map([["A", "1"]]))).toBe("$HOME $() $(A $");
});
