import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { oneShotClient } from "../../lib/cli/kube/one-shot-client.ts";
import { runCli } from "../../lib/cli/program.ts";
import { connectCluster } from "../../lib/registry/kubernetes/access/connect.ts";
import { freePort } from "../free-port.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-kube-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const open: Server[] = [];
afterAll(() => {
  for (const server of open) server.close();
});

/** Port of a server that does with every connection what is said. */
async function listenWith(connected: (socket: Socket) => void): Promise<number> {
  const server = createServer(connected);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function kubeconfigFor(address: string): void {
  const file = join(folder, "kubeconfig");
  const config = {
    "current-context": "prod",
    clusters: [{ name: "c", cluster: { server: address } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "prod", context: { cluster: "c", user: "u" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  vi.stubEnv("KUBECONFIG", file);
}

/** Exit code and lines of a command. */
async function run(...args: readonly string[]): Promise<readonly [number, string]> {
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const code = await runCli(["node", "portolan", ...args], terminal);
  return [code, lines.join("\n")];
}

const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };

describe("a cluster that cannot be reached", () => {
  it("is told in one line with context, address, reason and what to do, by every command", async () => {
    const address = `https://127.0.0.1:${await freePort()}`;
    kubeconfigFor(address);
    const file = join(folder, "shop.json");
    writeFileSync(file, JSON.stringify(namespace));
    const commands = [
      ["get", "vs", "--kube"],
      ["apply", "-f", file, "--kube"],
      ["delete", "vs/cart", "--kube"],
      ["analyze", "--kube"],
      ["collect", "kube", "--once", "--store", join(folder, "store")],
    ];
    for (const command of commands) {
      const [code, text] = await run(...command);
      expect([command[0], code, text.split("\n").length]).toEqual([command[0], 1, 1]);
      expect(text).toContain(`cannot reach the cluster of context prod at ${address}: connect ECONNREFUSED`);
      expect(text).toContain("; see that the cluster runs");
    }
  });

  it("is told why its certificate is not trusted", async () => {
    const cause = Object.assign(new Error("self-signed certificate"), { code: "SELF_SIGNED_CERT_IN_CHAIN" });
    const refusing = { baseUrl: "https://api.test", fetch: async () => Promise.reject(cause) };
    const client = oneShotClient({ client: refusing, context: "prod", namespace: "default" });
    await expect(client.fetch("https://api.test/api", {})).rejects.toThrow(
      "at https://api.test: self-signed certificate (SELF_SIGNED_CERT_IN_CHAIN); see that the context's certificate-authority",
    );
  });

  it("is told when it takes the connection and never answers", async () => {
    const address = `http://127.0.0.1:${await listenWith(() => {})}`;
    kubeconfigFor(address);
    const client = oneShotClient(await connectCluster(), 50);
    await expect(client.fetch(`${address}/api/v1`, {})).rejects.toThrow(
      `cannot reach the cluster of context prod at ${address}: no answer to GET /api/v1 within 0.05 s; see that`,
    );
  });

  it("may take its time over an answer that it has begun", async () => {
    const address = `http://127.0.0.1:${await listenWith((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{");
        setTimeout(() => socket.end("}"), 150);
      });
    })}`;
    kubeconfigFor(address);
    const client = oneShotClient(await connectCluster(), 50);
    expect(await (await client.fetch(`${address}/api/v1`, {})).json()).toEqual({});
  });
});

describe("--kube", () => {
  it("says how to write it where it took a word that was meant for the command", async () => {
    kubeconfigFor("https://127.0.0.1:1");
    const hint = "for a context: write --kube=CONTEXT, or --kube last";
    expect(await run("get", "--kube", "vs")).toEqual([
      2,
      `portolan: name a type, as in \`get vs\`; --kube took "vs" ${hint}`,
    ]);
    expect((await run("delete", "--kube", "vs/cart"))[1]).toContain(`--kube took "vs/cart" ${hint}`);
    expect((await run("analyze", "--kube", "mesh/"))[1]).toContain(
      `has no context mesh/; there are: prod; --kube took "mesh/" ${hint}`,
    );
  });

  it("has a help that says so", async () => {
    for (const command of ["apply", "create", "replace", "get", "delete", "analyze", "dev"]) {
      const [, help] = await run(command, "--help");
      expect(help).not.toContain("preset:");
      if (command !== "dev") expect(help.replace(/\s+/g, " ")).toContain("or of --kube=CONTEXT");
    }
  });
});
