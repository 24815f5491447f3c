import { describe, expect, it } from "vitest";
import { defaultKey, project } from "../../lib/base/classifier.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { claimsOf } from "../../lib/mesh/classes/claims.ts";
import { bare, census, filesOf, only } from "./pods/manifests.ts";

/** A pod whose program speaks xDS itself, as an operator writes it. */
const program = (name: string, template = "grpc-agent"): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", labels: { app: name }, annotations: { "inject.istio.io/templates": template } },
  spec: { serviceAccountName: name, containers: [{ name: "app" }] },
  status: { podIP: "10.1.2.8" },
});

const injected = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "injected", namespace: "shop", labels: { app: "injected" } },
  spec: {
    serviceAccountName: "injected",
    containers: [
      { name: "app" },
      { name: "istio-proxy", args: ["proxy", "sidecar"], env: [{ name: "ISTIO_META_GENERATOR", value: "grpc" }] },
    ],
  },
  status: { podIP: "10.1.2.7" },
};

const compiled = (objects: readonly object[]) => createFileCompiler(defaultWorldOptions)(filesOf(objects), []).value;

describe("a pod whose program speaks xDS itself", () => {
  it.each(["grpc-agent", "grpc-simple"])("is known by the template %s, and captures nothing", (template) => {
    const { proxy, node } = only([program("echo", template)]);
    expect(proxy.type).toBe("grpc");
    expect(node.id).toBe("sidecar~10.1.2.8~echo.shop~shop.svc.cluster.local");
    expect(node.metadata).toMatchObject({ GENERATOR: "grpc", DNS_CAPTURE: "false" });
    expect(node.metadata).not.toHaveProperty("INTERCEPTION_MODE");
    // Only its author knows whether it takes mutual TLS.
    expect(node.metadata.LABELS).not.toHaveProperty(["security.istio.io/tlsMode"]);
  });

  it("is known by the agent that injection left beside it", () => {
    expect(census([injected]).value.map(({ proxy }) => proxy.type)).toEqual(["grpc"]);
  });

  it("has a class of its own beside the Envoy of a pod that is alike, found by what its node says", () => {
    const { classes, classifier } = compiled([program("echo"), bare("web")]);
    expect(classes.map(({ id }) => id.split("-")[0])).toContain("grpc");
    for (const { proxy } of census([program("echo"), bare("web")]).value) {
      const found = classifier.classes[project(classifier, claimsOf(proxy)) ?? ""];
      expect(found?.split("-")[0]).toBe(proxy.type);
    }
  });

  it("gets the default class of programs where nobody knows it, never that of Envoys", () => {
    const { classifier } = compiled([program("echo"), bare("web")]);
    const stranger = { id: "sidecar~10.9.9.9~new.shop~shop.svc.cluster.local", cluster: "", locality: "" };
    const classOf = (metadata: object): string | undefined =>
      classifier.defaults[defaultKey({ ...stranger, metadata: { NAMESPACE: "shop", ...metadata } }) ?? ""];
    expect(classOf({ GENERATOR: "grpc" })).toMatch(/^grpc-/);
    expect(classOf({})).toMatch(/^sidecar-/);
  });

  it("costs nothing where there is none", () => {
    const { classes, classifier } = compiled([bare("web")]);
    expect(classes.filter(({ id }) => id.startsWith("grpc"))).toEqual([]);
    expect(classifier.attributes).not.toContain("metadata:GENERATOR");
    expect(Object.keys(classifier.defaults)).toEqual(["sidecar/shop"]);
  });
});
