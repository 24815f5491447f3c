/** Two Envoys with Portolan's agents, whose certificates come from the CA of `portolan serve` over the network. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf } from "../../lib/base/untyped.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { freePort } from "../free-port.ts";
import { type CutProxy, openCutProxy } from "../servers/cut-proxy.ts";
import { type AgentProcess, agentFolder, clearAgent, startAgent } from "./agent-process.ts";
import { eventually } from "./envoy.ts";
import { tokenKeys } from "./netns/token-keys.ts";
import { startServe } from "./serve-process.ts";
import { addresses, get, host, istio, workloads } from "./sidecars.ts";
import { startUpstream } from "./upstream.ts";

const names = ["client", "server"] as const;
const issuer = "https://kubernetes.default.svc.cluster.local";
/** So that a certificate is renewed within the test: an agent asks again after half of it. */
const validitySeconds = 90;

const policies = [
  istio("PeerAuthentication", "security/v1", "default", { mtls: { mode: "STRICT" } }),
  istio("AuthorizationPolicy", "security/v1", "client-only", {
    selector: { matchLabels: { app: "server" } },
    rules: [{ from: [{ source: { principals: ["cluster.local/ns/default/sa/client"] } }] }],
  }),
  // Each request on a connection of its own, so that each takes the certificates of the moment.
  istio("DestinationRule", "networking/v1", "server", {
    host,
    trafficPolicy: { connectionPool: { http: { maxRequestsPerConnection: 1 } } },
  }),
];

/** Nothing is intercepted: listeners bind where the workload is. */
const withoutInterception = (object: object): object => {
  const { kind, metadata, ...rest } = fieldsOf(object);
  if (kind !== "Pod") return object;
  const annotations = { "sidecar.istio.io/interceptionMode": "NONE" };
  return { kind, metadata: { ...fieldsOf(metadata), annotations }, ...rest };
};

describe("two agents that have their certificates from the CA of a server", { timeout: 180_000 }, () => {
  let folder: string;
  let app: Awaited<ReturnType<typeof startUpstream>>;
  let server: Awaited<ReturnType<typeof startServe>>;
  /** The way from the agents to the server. */
  let line: CutProxy;
  let ports: { readonly server: number; readonly service: number; readonly app: number };
  const agents = new Map<(typeof names)[number], AgentProcess>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-agents-ca-"));
    app = await startUpstream("the app");
    ports = { server: await freePort(), service: await freePort(), app: app.port };
    const port = await freePort();
    const text = [...workloads(ports), ...policies].map(withoutInterception).map((one) => JSON.stringify(one));
    const files = [{ file: "shop.yaml", text: text.join("\n---\n") }];
    await mkdir(join(folder, "mesh"));
    await writeFile(join(folder, "mesh/shop.yaml"), files[0]?.text ?? "");
    const keys = await tokenKeys();
    const key = randomBytes(32).toString("base64");
    const authentication = { issuers: [{ issuer, audience: ["istio-ca"], jwks: keys.keys }] };
    const settings = {
      store: "store",
      secretsKey: "@key",
      front: { port, workers: 1, ca: "on", authentication: "@auth.json" },
      compile: { everySeconds: 3_600 },
      collectors: [{ kind: "dir", folder: "mesh" }],
    };
    for (const [file, content] of [
      ["key", key],
      ["auth.json", JSON.stringify(authentication)],
      ["settings.yaml", JSON.stringify(settings)],
    ] as const)
      await writeFile(join(folder, file), content);
    const env = { ...process.env, PORTOLAN_SECRETS_KEY: key };
    const program = new URL("../../functions/portolan.mjs", import.meta.url).pathname;
    execFileSync(process.execPath, [program, "ca", "init", "--trust-domain", "cluster.local", "--store", "store"], {
      cwd: folder,
      env,
    });
    server = await startServe(folder, ["compiled: published"]);
    line = await openCutProxy(port);
    for (const name of names) {
      const found = proxiesIn(files).find(({ proxy }) => proxy.id === `${name}.default`);
      if (found === undefined) throw new Error(`no proxy ${name}`);
      const own = await agentFolder();
      const tokenFile = join(own, "token");
      const binding = { "kubernetes.io": { namespace: "default", pod: { name }, serviceaccount: { name } } };
      await writeFile(
        tokenFile,
        await keys.token(issuer, `system:serviceaccount:default:${name}`, "istio-ca", binding),
      );
      const url = `http://127.0.0.1:${line.port}`;
      const ofServer = ["--token-file", tokenFile, "--identity-from-server", "--validity", String(validitySeconds)];
      const args = ["--server", url, ...ofServer];
      agents.set(
        name,
        await startAgent({ folder: own, bootstrap: bootstrapFor(found, url, 0, { certificates: "none" }), args }),
      );
    }
  }, 180_000);

  afterAll(async () => {
    for (const agent of agents.values()) {
      await agent.end("SIGKILL");
      await clearAgent(agent.folder);
    }
    await line?.close();
    await server?.stop();
    await app?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = () =>
    get({ host: addresses.client, port: ports.service, path: "/", headers: { host } }).catch(() => undefined);
  const isAnswered = async () => (await ask())?.status;
  /** Serial number of the certificate that an Envoy has in use. */
  const serial = async (name: (typeof names)[number]): Promise<unknown> => {
    const { certificates }: { readonly certificates: readonly { readonly cert_chain?: readonly object[] }[] } =
      JSON.parse((await agents.get(name)?.admin("/certs")) ?? "");
    const own = certificates.flatMap(({ cert_chain: chain = [] }) => chain);
    return fieldsOf(own[0]).serial_number;
  };
  const logs = () => [...agents.values()].map((agent) => agent.log());
  const renewals = () => logs().map((log) => log.split("a new certificate, good until").length - 1);

  /** Asks until something holds. @returns what was answered other than by the app */
  async function failuresUntil(holds: () => boolean): Promise<readonly unknown[]> {
    const failures: unknown[] = [];
    while (!holds()) {
      const answer = await ask();
      if (answer?.status !== 200) failures.push(answer);
      await sleep(20);
    }
    return failures;
  }

  it("speak mutual TLS, each known to the other by its identity", async () => {
    await eventually(isAnswered, (status) => status === 200, 90_000).catch((cause: unknown) => {
      throw new Error(`${cause}\n${[...agents.values()].map((agent) => agent.log().slice(-3_000)).join("\n\n")}`);
    });
    const plain = get({ host: addresses.server, port: ports.server, path: "/" });
    await expect(plain).rejects.toThrow();
  });

  it("get another certificate before the one they have ends, and no request fails meanwhile", async () => {
    const before = await serial("server");
    expect(before).toBeTypeOf("string");
    expect(await failuresUntil(() => renewals().every((count) => count > 0))).toEqual([]);
    await eventually(
      () => serial("server"),
      (now) => now !== before,
      30_000,
    );
    expect(await isAnswered()).toBe(200);
  });

  it("go on while the CA is away, and have a new one soon after it is back", async () => {
    line.cut();
    expect(await failuresUntil(() => logs().some((log) => log.includes("no new certificate")))).toEqual([]);
    const before = renewals();
    line.mend();
    expect(await failuresUntil(() => renewals().every((count, at) => count > (before[at] ?? 0)))).toEqual([]);
    expect(await isAnswered()).toBe(200);
  });
});
