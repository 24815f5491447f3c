import { describe, expect, it } from "vitest";
import { bare, census, networking, only, podText } from "./pods/manifests.ts";

/** A ProxyConfig that says its own name, as a variable that ends up in the node, and as a number of threads. */
const says = (name: string, concurrency: number, spec: object = {}, metadata: object = {}): object =>
  networking(
    "ProxyConfig",
    name,
    { concurrency, environmentVariables: { ISTIO_META_SAID_BY: name }, ...spec },
    metadata,
  );

const mesh = "defaultConfig: {concurrency: 1, proxyMetadata: {ISTIO_META_SAID_BY: mesh, ISTIO_META_KEPT: mesh}}";
const root = says("root", 2, {}, { namespace: "istio-system" });
const namespace = says("namespace", 3);
const own = says("own", 4, { selector: { matchLabels: { app: "web" } } });
const annotated = { "proxy.istio.io/config": "{concurrency: 5, proxyMetadata: {ISTIO_META_SAID_BY: annotation}}" };

const said = (objects: readonly object[], annotations = {}) => {
  const { node, settings } = only([bare("web-0", annotations, { app: "web" }), ...objects], mesh);
  return { saidBy: node.metadata.SAID_BY, kept: node.metadata.KEPT, concurrency: settings.concurrency };
};

describe("the settings of a pod that nobody injected", () => {
  it.each([
    { what: "the mesh", objects: [], saidBy: "mesh", concurrency: 1 },
    { what: "an object of the root namespace", objects: [root], saidBy: "root", concurrency: 2 },
    { what: "one of its namespace before that", objects: [namespace, root], saidBy: "namespace", concurrency: 3 },
    { what: "one that selects it before those", objects: [root, own, namespace], saidBy: "own", concurrency: 4 },
  ])("come from $what", ({ objects, saidBy, concurrency }) => {
    expect(said(objects)).toEqual({ saidBy, concurrency, kept: "mesh" });
  });

  it("come from its annotation before the objects of namespaces", () => {
    expect(said([root, namespace], annotated)).toMatchObject({ saidBy: "annotation", concurrency: 5 });
  });

  it("come from the annotation before the object that selects it, but for the variables, which injection wrote", () => {
    expect(said([own], annotated)).toMatchObject({ saidBy: "own", concurrency: 5 });
  });

  it("come from no object of another namespace, and from none whose selector is empty or another's", () => {
    const objects = [
      says("elsewhere", 6, {}, { namespace: "other" }),
      says("empty", 7, { selector: {} }),
      says("others", 8, { selector: { matchLabels: { app: "api" } } }),
    ];
    expect(said(objects)).toMatchObject({ saidBy: "mesh", concurrency: 1 });
  });

  it("name the image", () => {
    const image = networking("ProxyConfig", "i", { image: { imageType: "distroless" } });
    expect(only([bare("web-0"), image]).settings.image).toEqual({ imageType: "distroless" });
  });
});

describe("several objects of one level", () => {
  const created = (name: string, concurrency: number, year: number): object =>
    says(name, concurrency, {}, { creationTimestamp: `${year}-01-01T00:00:00Z` });

  it("are the oldest one, and the others are told so", () => {
    const objects = [created("younger", 8, 2022), created("older", 9, 2021)];
    expect(said(objects)).toMatchObject({ saidBy: "older", concurrency: 9 });
    expect(census(objects).diagnostics).toMatchObject([
      { code: "proxy-config-shadowed", severity: "warning", origin: { key: { name: "younger", namespace: "shop" } } },
    ]);
  });
});

it("does not reach a pod that is injected already", () => {
  const all = says("all", 9);
  expect(only([podText("native-sidecar"), all]).node).toEqual(only([podText("native-sidecar")]).node);
});
