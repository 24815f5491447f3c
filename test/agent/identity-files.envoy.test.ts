import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leafPath } from "../../lib/agent/files/leaf-path.ts";
import { keepIdentity } from "../../lib/agent/identity/identity-files.ts";
import { createAuthority, issueIdentity } from "../e2e/certificates.ts";
import { eventually } from "../e2e/envoy.ts";

describe("the workload's certificate in files of the agent", () => {
  let folder: string;
  let roots: string;
  let said: string[];
  let end: (() => void) | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-identity-"));
    roots = createAuthority(join(folder, "authority"));
    said = [];
    end = undefined;
    return async () => {
      end?.();
      await rm(folder, { recursive: true, force: true });
    };
  });
  afterEach(() => end?.());

  const keep = async (source: Parameters<typeof keepIdentity>[0]["source"]) => {
    end = await keepIdentity({ source, folder, say: (line) => said.push(line) });
  };
  const secret = () => readFile(join(folder, leafPath("sds", "default")), "utf8");
  const issued = async (name: string) => {
    const from = issueIdentity(roots, `spiffe://cluster.local/ns/shop/sa/${name}`);
    const [certificate = "", key = ""] = await Promise.all(
      ["cert.pem", "key.pem"].map((file) => readFile(join(from, file), "utf8")),
    );
    return { from, certificate, key, roots: await readFile(roots, "utf8") };
  };

  it("comes from a command, and is readable by its user alone", async () => {
    const { from: _from, ...cart } = await issued("cart");
    await writeFile(join(folder, "printed.json"), JSON.stringify(cart));
    await keep({ kind: "command", command: `cat '${join(folder, "printed.json")}'` });
    const { resources } = JSON.parse(await secret());
    expect(resources[0]).toMatchObject({
      name: "default",
      tlsCertificate: { certificateChain: { inlineString: cart.certificate }, privateKey: { inlineString: cart.key } },
    });
    for (const name of await readdir(join(folder, "sds")))
      expect((await stat(join(folder, "sds", name))).mode & 0o777).toBe(0o600);
  });

  it("stays when the command fails, and is wanted where there is none from before", async () => {
    const broken = { kind: "command", command: "echo vault is sealed >&2; exit 2" } as const;
    await expect(keep(broken)).rejects.toThrow(
      "no certificate: the command that should print it failed: vault is sealed",
    );
    const { from: _from, ...cart } = await issued("cart");
    await writeFile(join(folder, "printed.json"), JSON.stringify(cart));
    await keep({ kind: "command", command: `cat '${join(folder, "printed.json")}'` });
    end?.();
    const before = await secret();
    await keep(broken);
    expect(await secret()).toBe(before);
    expect(said).toEqual([
      "no new certificate: the command that should print it failed: vault is sealed; Envoy keeps the one that it has",
    ]);
  });

  it("follows files, certificate and key together: between the one and the other nothing changes", async () => {
    const [cart, next] = [await issued("cart"), await issued("next")];
    const own = { certificate: join(folder, "cert.pem"), key: join(folder, "key.pem"), roots };
    await cp(join(cart.from, "cert.pem"), own.certificate);
    await cp(join(cart.from, "key.pem"), own.key);
    await keep({ kind: "files", ...own });
    const before = await secret();
    await cp(join(next.from, "cert.pem"), own.certificate);
    await eventually(
      async () => said.length,
      (count) => count > 0,
    );
    expect(said).toEqual([
      "no new certificate: the key is not that of the certificate; Envoy keeps the one that it has",
    ]);
    expect(await secret()).toBe(before);
    await cp(join(next.from, "key.pem"), own.key);
    await eventually(secret, (text) => text !== before);
    expect(said.at(-1)).toMatch(/^a new certificate, good until /);
  });
});
