import { describe, expect, it } from "vitest";
import { keyText } from "../../../lib/base/diagnostic.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";

const service = (metadata: string, port = 80) =>
  `{apiVersion: v1, kind: Service, metadata: {${metadata}}, spec: {ports: [{port: ${port}}]}}`;

const read = (text: string, namespace?: string) =>
  readFiles([{ file: "a.yaml", text }], namespace === undefined ? {} : { namespace });

const keys = (text: string, namespace?: string) => {
  const { configs, objects } = read(text, namespace);
  return [...configs, ...objects].map(({ origin }) => keyText(origin.key));
};

describe("an object that names no namespace", () => {
  it("is in `default`, whatever its kind, and in the one that a command names", () => {
    const text = [
      service("name: reviews"),
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: reviews}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}",
      "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: reviews}, spec: {host: reviews}}",
      "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
    ].join("\n---\n");
    const [inDefault, inShop] = [keys(text), keys(text, "shop")];
    expect(inDefault).toEqual([
      "DestinationRule/default/reviews",
      "Service/default/reviews",
      "Deployment.apps/default/reviews",
      "Namespace//shop",
    ]);
    expect(inShop).toEqual(inDefault.map((key) => key.replace("/default/", "/shop/")));
    expect(read(text).objects[0]?.metadata.namespace).toBe("default");
  });

  it("is the same as one that names `default`", () => {
    const { objects, diagnostics } = read(`${service("name: a")}\n---\n${service("name: a, namespace: default", 81)}`);
    expect(objects).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      { code: "duplicate-object", origin: { key: { namespace: "default", name: "a" }, line: 3 } },
    ]);
  });

  it("is told of with its namespace and the line of the field", () => {
    const text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  ports:\n  - port: 80\n    prot: TCP\n";
    expect(read(text).diagnostics).toMatchObject([
      { code: "unknown-field", origin: { key: { namespace: "default" }, line: 8 } },
    ]);
  });

  it("stays the same object from one reading to the next", async () => {
    const { sortObjects } = await import("../../../lib/config/folder/sort-objects.ts");
    const { parseStream } = await import("../../../lib/config/documents/parse.ts");
    const { value } = parseStream(service("name: a"), { file: "a.yaml" });
    expect(sortObjects(value).objects[0]).toBe(sortObjects(value).objects[0]);
  });
});
