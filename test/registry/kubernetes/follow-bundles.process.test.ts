import { describe, expect, it } from "vitest";
import { bundleNamesIn } from "../../../lib/registry/kubernetes/api/bundle-names.ts";
import { namedBundles, namedBundlesPart } from "../../../lib/registry/kubernetes/api/follow-bundles.ts";
import type { PackedObject } from "../../../lib/registry/origin/origin.ts";
import { packed } from "../../../lib/registry/origin/packed-object.ts";
import { hurry, jsonResponse } from "./fake-api-server.ts";
import { HeldOrigin } from "./held-origin.ts";

const policyOf = (caCertificateRefs: readonly object[], namespace = "shop") => ({
  metadata: { name: "vault", namespace },
  spec: { validation: { caCertificateRefs } },
});
const configMap = (name: string) => ({ group: "", kind: "ConfigMap", name });

describe("the objects with certificates that an object names", () => {
  it.each([
    ["by a reference, in its own namespace", policyOf([configMap("roots")]), ["ConfigMap shop/roots"]],
    [
      "by a reference into another one",
      policyOf([{ ...configMap("roots"), namespace: "ops" }]),
      ["ConfigMap ops/roots"],
    ],
    [
      "of the cluster",
      policyOf([{ group: "certificates.k8s.io", kind: "ClusterTrustBundle", name: "example.com:roots" }]),
      ["ClusterTrustBundle /example.com:roots"],
    ],
    [
      "by the texts of rules",
      {
        metadata: { name: "r", namespace: "shop" },
        spec: {
          trafficPolicy: { tls: { credentialName: "configmap://roots" } },
          subsets: [{ trafficPolicy: { tls: { credentialName: "configmap://ops/more" } } }],
        },
      },
      ["ConfigMap shop/roots", "ConfigMap ops/more"],
    ],
    ["as a Secret, which is never read", policyOf([{ group: "", kind: "Secret", name: "roots" }]), []],
    ["with a text that leads elsewhere in a path", policyOf([configMap(".."), configMap("../secrets/x")]), []],
  ])("%s", (_what, object, names) => {
    const found = bundleNamesIn(JSON.stringify(object)).map(
      ({ kind, namespace, name }) => `${kind} ${namespace}/${name}`,
    );
    expect(found).toEqual(names);
  });
});

/** Follows what one policy names, at a server that answers by path. */
function follow(answers: Map<string, () => Response>) {
  const asked: string[] = [];
  const client = {
    baseUrl: "http://api.test",
    fetch: async (url: string) => {
      const { pathname } = new URL(url);
      asked.push(pathname);
      return answers.get(pathname)?.() ?? jsonResponse({ reason: "NotFound" }, 404);
    },
  };
  const keep = (_read: unknown, { metadata, ...fields }: { readonly metadata: { readonly name: string } }) =>
    packed({ key: `ConfigMap/shop/${metadata.name}`, version: "1", object: fields });
  const bundles = namedBundles(client, { keep, reads: (namespace) => namespace !== "hidden", pace: hurry });
  const find = async () => ({ path: "/api/v1/configmaps", apiVersion: "v1", kind: "ConfigMap" });
  let tell: (objects: readonly PackedObject[]) => void = () => {};
  const held = new HeldOrigin({
    about: { kind: "kubernetes", cluster: "Kubernetes" },
    parts: [namedBundlesPart],
    follow(sink, signal) {
      const listening = bundles.listen(sink);
      tell = (objects) => listening.whole("BackendTLSPolicy.gateway.networking.k8s.io", objects);
      return bundles.follow(sink, find, signal);
    },
  });
  const name = (names: readonly string[], namespace = "shop") => {
    const object = policyOf(names.map(configMap), namespace);
    tell([packed({ key: "BackendTLSPolicy.gateway.networking.k8s.io/shop/vault", version: "1", object })]);
  };
  return { held, asked, name, refused: bundles.refused };
}

const roots = "/api/v1/namespaces/shop/configmaps/roots";
const found = () => jsonResponse({ metadata: { name: "roots" }, data: {} });

describe("the follower of objects with certificates", () => {
  it("asks for nothing where nothing is named, and for what is named by its name alone", async () => {
    const { held, asked, name } = follow(new Map([[roots, found]]));
    await held.until((one) => one.isWhole());
    expect(asked).toEqual([]);
    name(["roots"]);
    await held.until((one) => one.keys(namedBundlesPart).length === 1);
    expect(new Set(asked)).toEqual(new Set([roots]));
    name([]);
    await held.until((one) => one.keys(namedBundlesPart).length === 0);
    await held.end();
  });

  it("asks for none in a namespace that is not read", async () => {
    const { held, asked, name } = follow(new Map());
    name(["roots"], "hidden");
    await held.until((one) => one.told.filter((line) => line.startsWith("whole")).length > 1);
    expect(asked).toEqual([]);
    await held.end();
  });

  it("takes what it may not read for absent, and keeps what it could read before", async () => {
    const forbidden = () => jsonResponse({ reason: "Forbidden", message: "no" }, 403);
    const answers = new Map([[roots, forbidden]]);
    const { held, name, refused } = follow(answers);
    name(["roots"]);
    await held.until(() => refused().length === 1);
    expect(refused()).toEqual(["ConfigMap/shop/roots (not allowed)"]);
    expect(held.failures.size).toBe(0);
    answers.set(roots, found);
    await held.until((one) => one.keys(namedBundlesPart).length === 1);
    answers.set(roots, forbidden);
    await held.until((one) => one.failures.size === 1);
    expect(held.failures.get(namedBundlesPart)).toContain("ConfigMap/shop/roots may not be read any more");
    expect(held.keys(namedBundlesPart)).toEqual(["ConfigMap/shop/roots"]);
    answers.delete(roots);
    await held.until((one) => one.keys(namedBundlesPart).length === 0 && one.failures.size === 0);
    await held.end();
  });

  it("tells nothing as a whole before each was read, and keeps what was read while the server fails", async () => {
    const answers = new Map([[roots, () => new Response("", { status: 503 })]]);
    const { held, name } = follow(answers);
    await held.until((one) => one.isWhole());
    const before = held.told.length;
    name(["roots"]);
    await held.until((one) => one.failures.size === 1);
    expect(held.told.slice(before).some((line) => line.startsWith("whole named"))).toBe(false);
    answers.set(roots, found);
    await held.until((one) => one.failures.size === 0 && one.keys(namedBundlesPart).length === 1);
    answers.set(roots, () => new Response("", { status: 503 }));
    await held.until((one) => one.failures.size === 1);
    expect(held.keys(namedBundlesPart)).toHaveLength(1);
    await held.end();
  });
});
