import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-secrets-"));
  execFileSync("mkdir", [join(folder, "mesh")]);
});
afterEach(() => rmSync(folder, { recursive: true }));

const service = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}
`;
const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: cert, namespace: shop}\nstringData: {tls.key: s3cret}\n";
const empty = "apiVersion: v1\nkind: Secret\nmetadata: {name: later, namespace: shop}\n";
const request = `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: tokens, namespace: shop}
spec: {jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "oct", "k": "s3cret-s3cret-s3cret"}]}'}]}
`;
const file = (name: string, ...texts: readonly string[]) =>
  writeFileSync(join(folder, "mesh", name), texts.join("---\n"));

/** What a command prints, and its exit code. */
async function run(...args: readonly string[]) {
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const code = await runCli(["node", "portolan", ...args], terminal);
  return { code, lines };
}

/** The lines about secrets, without the folder before a file's name. */
const about = (lines: readonly string[]) =>
  lines
    .filter((line) => /\[(?:IST\d+ )?(?:secret-in-source|inline-[a-z-]+)\]/.test(line))
    .map((line) => line.replaceAll(`${join(folder, "mesh")}/`, ""))
    .sort();

const push = () => run("push", join(folder, "mesh"), "--store", join(folder, "store"), "--accept-closed");
const stored = () =>
  execFileSync("sh", ["-c", `grep -rhoa 's3cret' ${join(folder, "store")} | wc -l`])
    .toString()
    .trim();

describe("a secret in a folder", () => {
  it("is told of in the same words by validate and push, and never stored; analyze names the Secret", async () => {
    file("a.yaml", service, secret, empty, request);
    const [validated, pushed] = [await run("validate", join(folder, "mesh")), await push()];
    const words = [
      expect.stringMatching(
        /^error a\.yaml:\d+ RequestAuthentication shop\/tokens: spec\.jwtRules\[0\]\.jwks: holds a symmetric key/,
      ),
      expect.stringMatching(
        /^warning a\.yaml:6 Secret shop\/cert: configuration is no place for a Secret: its values are left out/,
      ),
    ];
    expect(about(validated.lines)).toEqual(words);
    expect(about(pushed.lines)).toEqual(words);
    expect([validated.code, pushed.code]).toEqual([1, 1]);
    expect(pushed.lines.join("\n")).toContain("published: generation 1");
    expect(stored()).toBe("0");
    const analyzed = (await run("analyze", join(folder, "mesh"))).lines.join("\n");
    expect(analyzed).toContain("Warning [secret-in-source] (Secret cert.shop");
    expect(analyzed).toContain("RequestAuthentication tokens.shop");
    expect(analyzed).not.toContain("later");
  });

  it("is published by all that stands beside it with exit code 0, where it is a Secret", async () => {
    file("a.yaml", service, secret, empty);
    expect([(await run("validate", join(folder, "mesh"))).code, (await push()).code]).toEqual([0, 0]);
  });

  it("may be a symmetric key, where the folder's own settings say so", async () => {
    file("a.yaml", service, request);
    file("portolan.yaml", "inlineSymmetricKeys: allow\n");
    const [validated, pushed] = [await run("validate", join(folder, "mesh")), await push()];
    expect([about(validated.lines), about(pushed.lines)]).toEqual([[], []]);
    expect(validated.lines).toContain("2 objects are valid");
    expect([validated.code, pushed.code]).toEqual([0, 0]);
    expect(Number(stored())).toBeGreaterThan(0);
    file("portolan.yaml", "inlineSymmetricKeys: refuse\n");
    expect(about((await push()).lines)).toHaveLength(1);
  });
});
