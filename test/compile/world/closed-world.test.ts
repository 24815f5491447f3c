import { describe, expect, it } from "vitest";
import { closedInForce, withClosed } from "../../../lib/compile/world/closed-world.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { noFolder, readAgain } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { configsByKind } from "../../../lib/mesh/index/configs-by-kind.ts";
import { indexPeerAuthentications } from "../../../lib/mesh/index/peer-authentication.ts";
import { indexSidecars } from "../../../lib/mesh/index/sidecar-index.ts";

const policy = (rules: string, namespace = "shop") => `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: guard, namespace: ${namespace} }
spec: { action: DENY, rules: ${rules} }
`;
const good = policy("[{ to: [{ operation: { paths: [/admin] } }] }]");
const bad = policy("[{ to: [{ operation: { path: [/admin] } }] }]");
const file = (text: string, name = "a.yaml") => ({ file: name, text });

describe("a refused security object", () => {
  it("is closed where no valid form of it is known", () => {
    const { configs, diagnostics } = withClosed(readFiles([file(bad)]), "close", createMemo());
    expect(configs.map(({ spec }) => spec)).toEqual([{ action: "DENY", rules: [{}] }]);
    expect(diagnostics).toMatchObject([{ code: "security-closed", severity: "warning", origin: { file: "a.yaml" } }]);
    expect(diagnostics[0]?.message).toContain("requests to all workloads of namespace shop are denied");
  });

  it("is what it was in its last valid form, where there is one", () => {
    const folder = readAgain(readAgain(noFolder, [file(good)]), [file(bad)]);
    const { configs, diagnostics } = withClosed(wholeFolder(folder), "close", createMemo());
    expect(configs.map(({ spec }) => spec)).toEqual([
      { action: "DENY", rules: [{ to: [{ operation: { paths: ["/admin"] } }] }] },
    ]);
    expect(diagnostics).toEqual([]);
  });

  it("is what a valid copy of it says", () => {
    expect(closedInForce(wholeFolder(readAgain(noFolder, [file(good), file(bad, "b.yaml")])))).toEqual([]);
  });

  it("is left out, and said to be, where the settings say open", () => {
    const { configs, diagnostics } = withClosed(readFiles([file(bad)]), "open", createMemo());
    expect(configs).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: "security-open", severity: "warning" }]);
  });

  it("closes the mesh in the root namespace", () => {
    const broken = policy("[{ to: [] }]", "istio-system");
    const { diagnostics } = withClosed(readFiles([file(broken)]), "close", createMemo());
    expect(diagnostics[0]?.message).toContain("requests to all workloads of the mesh are denied");
  });
});

describe("a PeerAuthentication whose selector cannot be read", () => {
  const peers = (...specs: readonly string[]) =>
    specs
      .map(
        (spec, at) =>
          `apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: { name: p${at}, namespace: shop }\nspec: ${spec}\n`,
      )
      .join("---\n");
  const modeOf = (text: string, labels: Readonly<Record<string, string>>) => {
    const memo = createMemo();
    const { configs } = withClosed(readFiles([file(text)]), "close", memo);
    const index = indexPeerAuthentications(configsByKind(configs, memo)("PeerAuthentication"), "istio-system").value;
    return index.workloadMode("shop", labels, 80);
  };
  const open = "{ mtls: { mode: PERMISSIVE } }";
  const webOpen = "{ selector: { matchLabels: { app: web } }, mtls: { mode: DISABLE } }";

  it("goes before older ones of its namespace, and before those of single workloads", () => {
    const unread = "{ selector: { labels: { app: web } }, mtls: { mode: STRICT } }";
    expect(modeOf(peers(open, webOpen, unread), { app: "web" })).toBe("STRICT");
    expect(modeOf(peers(open, webOpen, unread), { app: "db" })).toBe("STRICT");
  });

  it("counts for what it selects, where that can be read", () => {
    const read = "{ selector: { matchLabels: { app: web } }, mtls: { mode: STRICKT } }";
    expect(modeOf(peers(open, read), { app: "web" })).toBe("STRICT");
    expect(modeOf(peers(open, read), { app: "db" })).toBe("PERMISSIVE");
  });
});

describe("a Sidecar that is refused", () => {
  const sidecar = (name: string, spec: string) =>
    `apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: { name: ${name}, namespace: shop }\nspec: ${spec}\n---\n`;
  const scopeOf = (text: string, labels: Readonly<Record<string, string>>) => {
    const memo = createMemo();
    const { configs } = withClosed(readFiles([file(text)]), "close", memo);
    const index = indexSidecars(configsByKind(configs, memo)("Sidecar"), "istio-system").value;
    return index.sidecarFor("shop", labels)?.spec.egress?.[0]?.hosts;
  };
  const open = sidecar("a", '{ egress: [{ hosts: ["*/*"] }] }');
  const webOpen = sidecar("b", '{ workloadSelector: { labels: { app: web } }, egress: [{ hosts: ["./*"] }] }');
  const denied = "egress: [{ hosts: [shop/x] }], denied: []";

  it("goes before all others of its namespace where its selector cannot be read", () => {
    const unread = sidecar("c", `{ workloadSelector: { app: web }, ${denied} }`);
    expect(scopeOf(open + webOpen, { app: "web" })).toEqual(["./*"]);
    expect(scopeOf(open + webOpen + unread, { app: "web" })).toEqual(["~/*"]);
    expect(scopeOf(open + webOpen + unread, { app: "db" })).toEqual(["~/*"]);
  });

  it("closes what it selects, and nothing else", () => {
    const read = sidecar("c", `{ workloadSelector: { labels: { app: db } }, ${denied} }`);
    expect(scopeOf(open + webOpen + read, { app: "db" })).toEqual(["~/*"]);
    expect(scopeOf(open + webOpen + read, { app: "web" })).toEqual(["./*"]);
    expect(scopeOf(open + webOpen + read, { app: "ui" })).toEqual(["*/*"]);
  });
});

describe("a refused DENY whose last valid form is served", () => {
  it("denies what its valid rules deny, too", () => {
    const rule = "{ to: [{ operation: { paths: [/new] } }] }";
    const folder = readAgain(readAgain(noFolder, [file(good)]), [file(policy(`[${rule}, { to: [] }]`))]);
    const { configs, diagnostics } = withClosed(wholeFolder(folder), "close", createMemo());
    const denies = (path: string) => ({ action: "DENY", rules: [{ to: [{ operation: { paths: [path] } }] }] });
    expect(configs.map(({ spec }) => spec)).toEqual([denies("/admin"), denies("/new")]);
    expect(new Set(configs.map(({ meta }) => meta.name)).size).toBe(2);
    expect(diagnostics).toEqual([]);
  });
});

describe("several refused copies of one object", () => {
  it("close what each of them selects, under names of their own", () => {
    const copy = (app: string) => bad.replace("spec: {", `spec: { selector: { matchLabels: { app: ${app} } },`);
    const loaded = readFiles([file(copy("web")), file(copy("db"), "b.yaml")]);
    const { configs } = withClosed(loaded, "close", createMemo());
    expect(configs.map(({ spec }) => spec)).toEqual(
      ["web", "db"].map((app) => ({ selector: { matchLabels: { app } }, action: "DENY", rules: [{}] })),
    );
    expect(new Set(configs.map(({ meta }) => meta.name)).size).toBe(2);
  });
});

describe("a refused Sidecar that limits calls by its listeners alone", () => {
  const sidecar = `apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: a, namespace: shop }
spec: { egress: [{ port: { number: 99999999, protocol: HTTP, name: h }, hosts: ["other/*"] }, { hosts: ["./*"] }] }
`;
  const worldOf = (mode: string) => {
    const loaded = readFiles([file(sidecar), file(`outboundTrafficPolicy: { mode: ${mode} }`, "mesh.yaml")]);
    return { ...withClosed(loaded, "close", createMemo()), inForce: closedInForce(loaded).length };
  };

  it("closes in a mesh of REGISTRY_ONLY: without it its workloads would reach everything that is registered", () => {
    const { configs, diagnostics, inForce } = worldOf("REGISTRY_ONLY");
    expect(configs.map(({ spec }) => spec)).toEqual([
      { egress: [{ hosts: ["./*"] }], outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
    ]);
    expect([diagnostics.map(({ code }) => code), inForce]).toEqual([["security-closed"], 1]);
  });

  it("closes nothing where its workloads may call anybody", () => {
    expect(worldOf("ALLOW_ANY")).toEqual({ configs: [], diagnostics: [], inForce: 0 });
  });
});
