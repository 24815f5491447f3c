import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectCluster } from "../../../lib/registry/kubernetes/access/connect.ts";
import { readExecCredential } from "../../../lib/registry/kubernetes/access/exec-credential.ts";
import { accessOf, type KubeconfigFile } from "../../../lib/registry/kubernetes/access/kubeconfig.ts";
import { tlsFetch } from "../../../lib/registry/kubernetes/access/tls-fetch.ts";
import { send } from "../../../lib/registry/kubernetes/api/client.ts";
import { createAuthority, issueIdentity } from "../../e2e/certificates.ts";

const beside = (file: string, path: string) => `${file.replace(/[^/]*$/, "")}${path}`;
const fileOf = (text: string, file = "/home/me/.kube/config"): KubeconfigFile => ({ file, text });

const config = (user: string, more = "") => `
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: c1
  cluster: { server: "https://api.example:6443/", certificate-authority: ca.crt }
contexts:
- name: prod
  context: { cluster: c1, user: u1, namespace: shop }
- name: lost
  context: { cluster: gone, user: u1 }
users:
- name: u1
  user: ${user}
${more}`;

describe("a kubeconfig", () => {
  it("gives a context's cluster, user and namespace, with paths beside the file", () => {
    const access = accessOf(
      [fileOf(config("{ client-certificate: me.crt, client-key-data: a2V5 }"))],
      undefined,
      beside,
    );
    expect(access).toMatchObject({
      context: "prod",
      server: "https://api.example:6443",
      namespace: "shop",
      authority: { kind: "file", file: "/home/me/.kube/ca.crt" },
      certificate: { kind: "file", file: "/home/me/.kube/me.crt" },
      key: { kind: "data", base64: "a2V5" },
      credential: { kind: "none" },
    });
  });

  it.each([
    ["{ token: secret }", { kind: "token", token: "secret" }],
    ["{ tokenFile: t, token: secret }", { kind: "token-file", file: "/home/me/.kube/t" }],
    ["{ username: me, password: p }", { kind: "basic", username: "me", password: "p" }],
    [
      "{ exec: { apiVersion: client.authentication.k8s.io/v1, command: aws, args: [eks], env: [{ name: A, value: b }] } }",
      {
        kind: "exec",
        exec: {
          apiVersion: "client.authentication.k8s.io/v1",
          command: "aws",
          args: ["eks"],
          env: { A: "b" },
          installHint: "",
        },
      },
    ],
  ])("reads the credential of %s", (user, credential) => {
    expect(accessOf([fileOf(config(user))], "prod", beside).credential).toEqual(credential);
  });

  it("is merged of several files, of one name the first", () => {
    const first = fileOf("current-context: prod\nusers: [{ name: u1, user: { token: first } }]", "/a/config");
    const access = accessOf([first, fileOf(config("{ token: second }"), "/b/config")], undefined, beside);
    expect(access.credential).toEqual({ kind: "token", token: "first" });
    expect(access.authority).toEqual({ kind: "file", file: "/b/ca.crt" });
  });

  it.each([
    ["a context that is not there", config("{}"), "nowhere", "has no context nowhere; there are: prod, lost"],
    ["a cluster that is not there", config("{}"), "lost", "names the cluster gone"],
    ["a file that is none", "current-context: prod\ncontexts: 7", undefined, "is no kubeconfig: the file contexts"],
    ["a server that is no address", config("{}").replace("https://api.example:6443/", "nowhere"), "prod", "c1 server"],
    ["an auth-provider", config("{ auth-provider: { name: gcp } }"), "prod", "use exec"],
    ["no current context", "contexts: []", undefined, "has no current context"],
  ])("refuses %s", (_what, text, context, message) => {
    expect(() => accessOf([fileOf(text)], context, beside)).toThrow(message);
  });

  it("never repeats what it holds in messages", () => {
    expect(() => accessOf([fileOf(config("{ token: [hunter2] }"))], "prod", beside)).not.toThrow(/hunter2/);
  });
});

describe("a credential plugin's output", () => {
  it("gives a token or a certificate, and until when", () => {
    const text = (status: object) => JSON.stringify({ kind: "ExecCredential", status });
    expect(readExecCredential("p", text({ token: "t", expirationTimestamp: "2030-01-01T00:00:00Z" }))).toEqual({
      token: "t",
      untilMs: Date.UTC(2030, 0, 1),
    });
    const pair = { clientCertificateData: "c", clientKeyData: "k" };
    expect(readExecCredential("p", text(pair))).toEqual({ certificate: "c", key: "k" });
    expect(() => readExecCredential("p", text({}))).toThrow("neither a token nor a certificate");
    expect(() => readExecCredential("p", "hunter2")).toThrow(/^p has printed no ExecCredential$/);
  });
});

describe("a client of a cluster", () => {
  let folder = "";
  const closing: (() => unknown)[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-kubeconfig-"));
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await rm(folder, { recursive: true, force: true });
  });

  /** A server that asks for a client's certificate, and tells who it was asked by. */
  async function startServer() {
    const authority = createAuthority(folder);
    const own = issueIdentity(authority, "spiffe://cluster.local/ns/default/sa/server");
    const options = {
      cert: await readFile(join(own, "cert.pem")),
      key: await readFile(join(own, "key.pem")),
      ca: await readFile(authority),
      requestCert: true,
      rejectUnauthorized: false,
    };
    const asked: string[] = [];
    const server = createServer(options, (request, response) => {
      const { authorization = "nobody" } = request.headers;
      asked.push(authorization);
      if (authorization === "Bearer old") response.writeHead(401).end("{}");
      else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ authorization }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo; // a TCP server's address is never a text
    return { url: `https://127.0.0.1:${port}`, asked };
  }

  it("runs its plugin, and runs it again when the server refuses what it gave", async () => {
    const { url, asked } = await startServer();
    const plugin = join(folder, "plugin.mjs");
    const count = join(folder, "count");
    await writeFile(
      plugin,
      `import { appendFileSync, readFileSync } from "node:fs";
appendFileSync(${JSON.stringify(count)}, "x");
const token = readFileSync(${JSON.stringify(count)}, "utf8").length === 1 ? "old" : process.env.WORD;
console.log(JSON.stringify({ kind: "ExecCredential", status: { token } }));`,
    );
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: process.execPath,
      args: [plugin],
      env: [{ name: "WORD", value: "new" }],
    };
    const kubeconfig = join(folder, "config");
    await writeFile(
      kubeconfig,
      JSON.stringify({
        "current-context": "a",
        clusters: [{ name: "c", cluster: { server: url, "insecure-skip-tls-verify": true } }],
        users: [{ name: "u", user: { exec } }],
        contexts: [{ name: "a", context: { cluster: "c", user: "u" } }],
      }),
    );
    const { client, namespace } = await connectCluster(undefined, kubeconfig);
    const answer = await send(client, "/api", {});
    expect("response" in answer && (await answer.response.json())).toEqual({ authorization: "Bearer new" });
    expect([asked, namespace]).toEqual([["Bearer old", "Bearer new"], "default"]);
  });

  it("trusts no server whose authority it does not know", async () => {
    const { url } = await startServer();
    const fetch = tlsFetch(async () => ({}));
    await expect(fetch(`${url}/api`, {})).rejects.toThrow(/certificate/);
  });

  it("says where it has looked when there is no kubeconfig", async () => {
    await expect(connectCluster("prod", join(folder, "none"))).rejects.toThrow("there is no kubeconfig at");
  });
});
