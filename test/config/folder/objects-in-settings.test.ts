import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { noFolder, readAgain } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { readMeshConfig } from "../../../lib/config/read-mesh-config.ts";
import { files, hosts, rule } from "./folders.ts";

const policy = `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: locked, namespace: shop }
spec: { selector: { matchLabels: { app: web } } }
`;
const closed = { origin: { key: { kind: "AuthorizationPolicy", name: "locked" } }, closing: "denied" };
const settings = "trustDomain: shop.example\n";
const read = (file: string, text: string) => readFiles([{ file, text }]);

describe("an object in a settings file", () => {
  it.each([
    ["mesh.yaml", "the mesh's settings"],
    ["networks.yaml", "the mesh's networks"],
    ["portolan.yaml", "the folder's settings"],
  ])("refuses %s, says why, and fails closed", (file, holds) => {
    const { diagnostics, closed: found } = read(file, `# a comment\n${policy}`);
    expect(diagnostics).toMatchObject([
      {
        severity: "error",
        code: "object-in-settings",
        origin: { file, line: 2, key: { kind: "AuthorizationPolicy", namespace: "shop", name: "locked" } },
        message: `${file} holds an AuthorizationPolicy, but a file of this name holds ${holds}`,
        hint: "give the file another name",
      },
    ]);
    expect(found).toMatchObject([{ ...closed, target: { selector: { matchLabels: { app: "web" } } } }]);
  });

  it("counts among several documents, in a list, and without a name", () => {
    const several = read("mesh.yaml", `${settings}---\n${policy}---\n${rule("a", "a.example")}`);
    expect(several.diagnostics.map(({ origin }) => [origin.key.kind, origin.line])).toEqual([
      ["AuthorizationPolicy", 3],
      ["DestinationRule", 8],
    ]);
    expect(several.closed).toMatchObject([closed]);
    expect(several.meshConfig.trustDomain).toBe("cluster.local");
    expect(several.unusableSettings).toEqual(several.diagnostics);

    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: [{ kind: "AuthorizationPolicy", spec: {} }] });
    const unnamed = read("mesh.yaml", list);
    expect(unnamed.diagnostics).toMatchObject([{ message: expect.stringContaining("an AuthorizationPolicy") }]);
    expect(unnamed.closed).toMatchObject([{ closing: "denied", target: {} }]);
  });

  it("fails closed in a document that cannot be read", () => {
    const { diagnostics, closed: found } = read("mesh.yaml", `${settings}---\n${policy.replace("locked,", "[locked")}`);
    expect(diagnostics).toMatchObject([{ code: "unreadable-document", severity: "error" }]);
    expect(found).toMatchObject([{ closing: "denied", target: {} }]);
  });

  it("leaves the last valid settings, and the last valid form of the object, in force", () => {
    const first = readAgain(noFolder, files({ "mesh.yaml": settings, "a.yaml": rule("a", "a.example") }));
    for (const text of [rule("a", "b.example"), `${settings}---\n${rule("a", "b.example")}`]) {
      const moved = readAgain(first, files({ "mesh.yaml": text }));
      const { meshConfig, unusableSettings, diagnostics } = wholeFolder(moved);
      expect(meshConfig.trustDomain).toBe("shop.example");
      expect(unusableSettings).toBeUndefined();
      expect(hosts(moved)).toEqual(hosts(first));
      expect(diagnostics.map(({ code }) => code)).toEqual([
        "object-in-settings",
        "last-valid-served",
        "last-valid-served",
      ]);
      const mended = readAgain(moved, files({ "mesh.yaml": settings, "c.yaml": rule("a", "b.example") }));
      expect(hosts(mended)).toEqual(['a={"host":"b.example"}']);
      expect(wholeFolder(mended).diagnostics).toEqual([]);
    }
  });

  it("is none of the settings that a cluster keeps, either", () => {
    const { value, isUsable, diagnostics } = readMeshConfig(policy, "cluster a", settings);
    expect([value.trustDomain, isUsable]).toEqual(["shop.example", true]);
    expect(diagnostics).toMatchObject([{ code: "object-in-settings", severity: "error" }]);
  });

  it("is not what settings are taken for", () => {
    expect(read("mesh.yaml", settings).diagnostics).toEqual([]);
    expect(read("mesh.yaml", "").diagnostics).toEqual([]);
    expect(read("networks.yaml", "networks: {}\n").diagnostics).toEqual([]);
    expect(read("portolan.yaml", "endpoints: []\n").diagnostics).toEqual([]);
  });
});
