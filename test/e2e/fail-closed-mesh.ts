/** A gateway's Envoy behind a front, and the ways by which a policy reaches it. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { keyText } from "../../lib/base/diagnostic.ts";
import { fieldsOf } from "../../lib/base/untyped.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { parseStream } from "../../lib/config/documents/parse.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { FakeOrigin } from "../collect/fake-origin.ts";
import { freePort } from "../free-port.ts";
import { program } from "../programs.ts";
import { openBookshop, shopHost, startGateway } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { secret, signedPost } from "./edges.ts";
import { eventually } from "./envoy.ts";

/** Brings a policy to the mesh and publishes. @param isAccepted whether it may close something @throws where it is refused */
export type Bring = (policy: string, isAccepted?: boolean) => Promise<void>;

export interface FailClosedMesh {
  readonly ways: Readonly<Record<"push" | "webhook" | "collector", Bring>>;
  /** The status of one request through the gateway. */
  status(path: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Publishes a marker and waits until Envoy serves it. @returns the statuses of a path meanwhile, each once */
  settle(path: string, headers?: Readonly<Record<string, string>>): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** A folder that `portolan dev` follows. */
export interface FollowedFolder {
  readonly save: (policy: string) => Promise<void>;
  /** Ends the process as a machine that fails would, and starts it again on its store. */
  readonly restart: () => Promise<void>;
  readonly status: (path: string) => Promise<number>;
  /** Saves a marker and waits until Envoy serves it. @returns the statuses of a path meanwhile, each once */
  readonly settle: (path: string) => Promise<readonly number[]>;
  readonly close: () => Promise<void>;
}

const cli = await program("cli");
/** Short: what passes while one configuration takes the place of another has to be seen. */
const betweenStatusesMs = 5;
const policyFile = "policy.yaml";
/** Every listener of the gateway says in its answers how often it was published. */
const marker = (round: number) => `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: marker, namespace: bookshop }
spec:
  configPatches:
    - applyTo: NETWORK_FILTER
      match: { context: GATEWAY, listener: { filterChain: { filter: { name: envoy.filters.network.http_connection_manager } } } }
      patch:
        operation: MERGE
        value:
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
            server_name: round-${round}
`;

export async function openFailClosedMesh(): Promise<FailClosedMesh> {
  const shop = await openBookshop();
  const folder = await mkdtemp(join(tmpdir(), "portolan-closed-"));
  const store = fileStore(folder);
  const recompile = () => createRecompiler({ store, build: "test" })();
  let round = 0;
  await shop.add("marker.yaml", marker(round));
  const push = async (...options: readonly string[]) => {
    await promisify(execFile)(process.execPath, [cli, "push", shop.folder, "--store", folder, ...options]);
  };
  await push();
  const secrets = { ...noSecrets, operators: [secret] };
  const app = webhookApp({ store, recompile, secrets, sources: ["main"] });
  const post = async (acceptClosed: boolean) => {
    const body = JSON.stringify({ files: await readFolder(shop.folder), acceptClosed });
    const signed = await signedPost(secret, "/sources/main", body, crypto.randomUUID(), Date.now());
    const answer = await app.request("/sources/main", { method: "POST", headers: { ...signed }, body });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  };
  const collect = async (text: string) => {
    const origin = new FakeOrigin();
    const collecting = createCollector({ store, source: "cluster", origin, allowEmpty: true }).once();
    await origin.following;
    const objects = parseStream(text, { file: "" }).value.map(({ origin: { key }, ...object }) => ({
      key: keyText(key),
      version: "1",
      object,
    }));
    origin.whole("all", objects);
    await collecting;
    await recompile();
  };
  const front = createFront({ store, maxHoldMs: 1_000 });
  const server = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  const envoy = await startGateway(server.url);
  const ask = asker(shop.port);
  const status = async (path: string, headers = {}) => (await ask(path, headers)).status;
  return {
    status,
    ways: {
      async push(policy, isAccepted = false) {
        await shop.add(policyFile, policy);
        // A push that refuses an object exits with 1, whether it publishes or not.
        await push(...(isAccepted ? ["--accept-closed"] : [])).catch((cause: unknown) => {
          const { stderr = "" } = { ...fieldsOf(cause) };
          if (!isAccepted && String(stderr).includes("was left as it was")) throw new Error(String(stderr));
        });
      },
      async webhook(policy, isAccepted = false) {
        await shop.add(policyFile, policy);
        await post(isAccepted);
      },
      collector: collect,
    },
    async settle(path, headers = {}) {
      round += 1;
      await shop.add("marker.yaml", marker(round));
      const seen = new Set<number>();
      await post(true);
      await eventually(
        async () => {
          const answer = await ask(path, headers);
          seen.add(answer.status);
          return answer.server;
        },
        (server) => server === `round-${round}`,
        30_000,
        betweenStatusesMs,
      );
      seen.add(await status(path, headers));
      return [...seen].sort();
    },
    async close() {
      await envoy.stop();
      await server.close();
      front.close();
      await shop.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Seen {
  readonly status: number;
  /** Which listener answers. */
  readonly server: string;
}

/** Asks a gateway on a port of this machine. */
export const asker = (port: number) => (path: string, headers: Readonly<Record<string, string>>) =>
  new Promise<Seen>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, headers: { host: shopHost, ...headers }, agent: false };
    const asked = request(options, (response) => {
      response.resume();
      response.on("end", () => resolve({ status: response.statusCode ?? 0, server: String(response.headers.server) }));
    });
    asked.once("error", reject);
    asked.end();
  });

/** A copy of the bookshop that `portolan dev` follows, with a gateway of its own. */
export async function startFolder(): Promise<FollowedFolder> {
  const shop = await openBookshop();
  let round = 0;
  await shop.add("marker.yaml", marker(round));
  const port = String(await freePort());
  const start = () => startDev(shop.folder, ["--port", port]);
  let dev = await start();
  const envoy = await startGateway(dev.url);
  const ask = asker(shop.port);
  return {
    save: (policy) => shop.add(policyFile, policy),
    async restart() {
      await dev.kill();
      dev = await start();
    },
    status: async (path) => (await ask(path, {})).status,
    async settle(path) {
      round += 1;
      await shop.add("marker.yaml", marker(round));
      const seen = new Set<number>();
      const server = async () => {
        const answer = await ask(path, {});
        seen.add(answer.status);
        return answer.server;
      };
      await eventually(server, (one) => one === `round-${round}`, 30_000, betweenStatusesMs);
      return [...seen].sort();
    },
    async close() {
      await envoy.stop();
      await dev.stop();
      await shop.close();
    },
  };
}
