import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import picocolors from "picocolors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { rollback } from "../../../lib/snapshot/head/head-operations.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-dev-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const rule = (field: string) => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a, namespace: shop }
spec: { ${field}: a.shop.svc.cluster.local }
`;

interface Event {
  readonly event: string;
  readonly version: string;
  readonly objects: number;
  readonly diagnostics: readonly { readonly code: string }[];
}

/** Of the last `devOnce`. */
let exitCode = 0;

/** `portolan dev --once`, as after each start of it. */
async function devOnce(...more: readonly string[]): Promise<Event | string> {
  const lines: string[] = [];
  const errors: string[] = [];
  const terminal = {
    out: (line: string) => lines.push(line),
    err: (line: string) => errors.push(line),
    colours: picocolors.createColors(false),
  };
  const args = ["dev", folder, "--once", "--json", "--store", join(folder, ".store"), ...more];
  const code = await runCli(["node", "portolan", ...args], terminal);
  const last = lines.at(-1);
  exitCode = code;
  return last === undefined ? errors.join("\n") : JSON.parse(last);
}

/** `portolan push` of the folder into the same store: its exit code and all that it says. */
async function push(): Promise<readonly [number, string]> {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const terminal = { out: print, err: print, colours: picocolors.createColors(false) };
  const code = await runCli(["node", "portolan", "push", folder, "--store", join(folder, ".store")], terminal);
  return [code, lines.join("\n")];
}

describe("portolan dev", () => {
  it("signs what it publishes with the keyring's key, and follows no HEAD that is signed otherwise", async () => {
    const keyring = join(folder, "..", `${basename(folder)}-keys.json`);
    await writeFile(join(folder, "a.yaml"), rule("host"));
    const terminal = { out: () => {}, err: () => {}, colours: picocolors.createColors(false) };
    await runCli(["node", "portolan", "keys", "create", "--use", "roots", "--keyring", keyring], terminal);
    expect(await devOnce("--keyring", keyring)).toMatchObject({ event: "published" });
    const signed = await readHead(fileStore(join(folder, ".store")));
    expect(signed?.head.signatures).toHaveLength(1);
    await writeFile(join(folder, "b.yaml"), rule("host").replace("name: a", "name: b"));
    expect(await devOnce("--keyring", `${keyring}.none`)).toContain(
      "HEAD is signed, and there is no key to sign it with",
    );
    await rm(keyring);
    await runCli(["node", "portolan", "keys", "create", "--use", "roots", "--keyring", keyring], terminal);
    expect(await devOnce("--keyring", keyring)).toContain("signed with none of the trusted keys");
    await rm(keyring);
  });

  it("goes on serving an object's last valid form when it is started anew after a broken save", async () => {
    await writeFile(join(folder, "a.yaml"), rule("host"));
    const first = await devOnce();
    await writeFile(join(folder, "a.yaml"), rule("hots"));
    expect(exitCode).toBe(0);
    const broken = await devOnce();
    expect(exitCode).toBe(1);
    expect(broken).toMatchObject({
      objects: 1,
      diagnostics: [{ code: "last-valid-served" }, { code: "unknown-field" }],
    });
    expect(await devOnce()).toMatchObject({ event: "unchanged", version: (broken as Event).version });
    await writeFile(join(folder, "a.yaml"), rule("host"));
    expect(await devOnce()).toMatchObject({ event: "published", version: (first as Event).version });
  });

  it("does so too for a kind that is misspelt, and takes the object out when it is deleted", async () => {
    await writeFile(join(folder, "a.yaml"), rule("host"));
    await writeFile(join(folder, "b.yaml"), rule("host").replace("name: a", "name: b"));
    await devOnce();
    await writeFile(join(folder, "a.yaml"), rule("host").replace("DestinationRule", "DestinationRules"));
    const [code, text] = await push();
    expect(code).toBe(1);
    expect(text).toContain("did you mean DestinationRule?");
    expect(text).toContain("the last valid form of 1 refused object is still served");
    expect(await devOnce()).toMatchObject({ event: "unchanged", objects: 2 });
    await rm(join(folder, "a.yaml"));
    expect(await devOnce()).toMatchObject({ objects: 1, diagnostics: [] });
  });

  it("takes a file that was half saved when it is started anew for what it was", async () => {
    await writeFile(join(folder, "a.yaml"), rule("host"));
    await devOnce();
    await writeFile(join(folder, "a.yaml"), rule("host").slice(0, 40));
    expect(await devOnce()).toMatchObject({ objects: 1, diagnostics: [{ code: "half-saved" }] });
  });

  it("says that what is served is pinned, and publishes nothing over it", async () => {
    await writeFile(join(folder, "a.yaml"), rule("host"));
    await devOnce();
    await rollback(fileStore(join(folder, ".store")), 0);
    await writeFile(join(folder, "b.yaml"), rule("host").replace("name: a", "name: b"));
    expect(await devOnce()).toMatchObject({ event: "pinned" });
  });

  it("starts with nothing only when that is meant", async () => {
    await writeFile(join(folder, "a.yaml"), "# nothing\n");
    expect(await devOnce()).toContain("[empty-source]");
    expect(await devOnce("--allow-empty")).toMatchObject({ event: "published", objects: 0 });
  });

  it("says what does not fit together, and is no failure because of it", async () => {
    await writeFile(join(folder, "a.yaml"), rule("host"));
    expect(await devOnce()).toMatchObject({ event: "published", diagnostics: [], analysis: [{ code: "IST0174" }] });
    const [code, text] = await push();
    expect(code).toBe(0);
    expect(text).toContain("[IST0174]");
  });

  it("reads JSON, and all other files where one is a pipe or a link to nothing", async () => {
    await writeFile(join(folder, "a.json"), '{"kind":"List","items":[]}');
    await writeFile(join(folder, "b.yaml"), rule("host"));
    await promisify(execFile)("mkfifo", [join(folder, "pipe.yaml")]);
    await symlink(join(folder, "gone"), join(folder, "link.yaml"));
    const problems = [
      { code: "unreadable-file", origin: { file: join(folder, "link.yaml") } },
      { code: "unreadable-file", origin: { file: join(folder, "pipe.yaml") } },
    ];
    expect(await devOnce()).toMatchObject({ event: "published", objects: 1, diagnostics: problems });
    const [code, text] = await push();
    expect(code).toBe(1);
    expect(text).toContain(`error ${join(folder, "pipe.yaml")}: cannot be read: it is no file`);
  });

  it("goes on serving what a file held that is no text any more, and publishes the other files", async () => {
    const second = rule("host").replace("name: a", "name: b");
    await writeFile(join(folder, "a.yaml"), rule("host"));
    await writeFile(join(folder, "b.yaml"), second);
    const first = await devOnce();
    const withoutMark = Buffer.from(rule("host"), "utf16le");
    for (const [at, bytes] of [withoutMark, Buffer.from([0xff, 0x00, 0xfe, 0x80])].entries()) {
      await writeFile(join(folder, "a.yaml"), bytes);
      await writeFile(join(folder, "b.yaml"), second.replace("a.shop", `other-${at}.shop`));
      const next = await devOnce();
      expect(next).toMatchObject({ objects: 2, diagnostics: [{ code: "unreadable-file" }] });
      expect((next as Event).version).not.toBe((first as Event).version);
    }
    await writeFile(join(folder, "a.yaml"), Buffer.concat([Buffer.from([0xff, 0xfe]), withoutMark]));
    await writeFile(join(folder, "b.yaml"), second);
    expect(await devOnce()).toMatchObject({ diagnostics: [], version: (first as Event).version });
  });

  it("goes on serving what a file held that cannot be read any more", async () => {
    await writeFile(join(folder, "b.yaml"), rule("host"));
    await writeFile(join(folder, "a.yaml"), rule("host").replace("name: a", "name: b"));
    const first = await devOnce();
    await rm(join(folder, "b.yaml"));
    await symlink(join(folder, "gone"), join(folder, "b.yaml"));
    expect(await devOnce()).toMatchObject({ objects: 2, diagnostics: [{ code: "unreadable-file" }] });
    expect(await devOnce()).toMatchObject({ objects: 2, diagnostics: [{ code: "unreadable-file" }] });
    await rm(join(folder, "b.yaml"));
    await writeFile(join(folder, "b.yaml"), rule("host"));
    expect(await devOnce()).toMatchObject({ diagnostics: [], version: (first as Event).version });
  });
});
