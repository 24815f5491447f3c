/** A service whose pod is replaced every second behind a gateway, in a store that several processes use. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { nameHash } from "../../lib/base/name-hash.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { heldPace } from "../../lib/snapshot/head/plan-stages.ts";
import type { Publishing } from "../../lib/snapshot/publish.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { freePort } from "../free-port.ts";
import { program } from "../programs.ts";
import { type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

export const host = "web.example.com";

const cli = await program("cli");
const gatewayLabels = "{app: gateway, istio: gateway}";

/** The gateway, and how it treats traffic. @param name of the configuration, which each route's header says */
const configuration = (name: string, port: number): string => `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: gateway, namespace: shop}
spec: {selector: {istio: gateway}, servers: [{port: {number: ${port}, name: http, protocol: HTTP}, hosts: ["${host}"]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec:
  hosts: ["${host}"]
  gateways: [gateway]
  http:
    - headers: {response: {set: {x-configuration: is-${name}}}}
      route: [{destination: {host: web.shop.svc.cluster.local}}]
`;

const pod = (name: string, labels: string, address: string): string => `---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: shop, labels: ${labels}}
spec: {containers: [{name: app, image: example}]}
status: {phase: Running, podIP: ${address}, podIPs: [{ip: ${address}}], conditions: [{type: Ready, status: "True"}]}
`;

interface Ports {
  readonly gateway: number;
  readonly app: number;
}

const registry = (address: string, number: number, { gateway, app }: Ports): string => `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.20, selector: {app: web}, ports: [{name: http, port: 80, targetPort: ${app}}]}
---
apiVersion: v1
kind: Service
metadata: {name: gateway, namespace: shop, labels: ${gatewayLabels}}
spec: {clusterIP: 10.96.0.21, selector: ${gatewayLabels}, ports: [{name: http2, port: ${gateway}, targetPort: ${gateway}}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: ${app}, protocol: TCP}]
endpoints: [{addresses: ["${address}"], conditions: {ready: true}, targetRef: {kind: Pod, name: web-${number}, namespace: shop}}]
${pod(`web-${number}`, "{app: web}", address)}${pod("gateway-1", gatewayLabels, "127.0.0.1")}`;

/** A pod that is gone serves so long after its endpoint was published, as one does that is told to stop. */
const graceMs = 2_500;

export interface ReplacedPods {
  readonly store: ObjectStore;
  /** Of the gateway. */
  readonly port: number;
  /** Publishes other configuration, with the pod that is there. */
  configure(name: string, publishing?: Publishing): Promise<void>;
  /** Whoever compiles is another process from now on, which remembers nothing. */
  restart(): void;
  /** Runs a command on the store in a process of its own. @returns what it writes */
  portolan(...args: readonly string[]): Promise<string>;
  /** How many pods there have been. */
  replaced(): number;
  /** A gateway that polls, within the first share of nodes or beyond it. */
  gateway(frontUrl: string, isWithin: (share: number) => boolean): Promise<RunningEnvoy>;
  close(): Promise<void>;
}

export async function openReplacedPods(name: string): Promise<ReplacedPods> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-pods-"));
  const store = fileStore(directory);
  const ports = { gateway: await freePort(), app: await freePort() };
  const upstreams = new Set<Upstream>();
  const ends = new Set<NodeJS.Timeout>();
  const recompiler = () => createRecompiler({ store, publisher: { pace: heldPace } });
  let recompile = recompiler();
  let configured = name;
  let number = 0;
  let address = "";
  let current: Upstream | undefined;
  const files = (): readonly SourceFile[] => [
    { file: "configuration.yaml", text: configuration(configured, ports.gateway) },
    { file: "pods.yaml", text: registry(address, number, ports) },
  ];
  const publish = async (publishing?: Publishing) => {
    await writeShard(store, "main", files());
    await recompile(publishing);
  };
  /** One after the other: there is one folder. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const replace = async () => {
    const gone = current;
    number += 1;
    address = `127.0.1.${number}`;
    current = await startUpstream("web", ports.app, address);
    upstreams.add(current);
    await publish();
    if (gone === undefined) return;
    ends.add(
      setTimeout(() => {
        upstreams.delete(gone);
        void gone.close();
      }, graceMs),
    );
  };
  await replace();
  const failed: unknown[] = [];
  const everySecond = setInterval(() => {
    inTurn(replace).catch((cause: unknown) => failed.push(cause));
  }, 1_000);

  return {
    store,
    port: ports.gateway,
    configure: (next, publishing) =>
      inTurn(async () => {
        configured = next;
        await publish(publishing);
      }),
    restart() {
      recompile = recompiler();
    },
    async portolan(...args) {
      const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args, "--store", directory]);
      return stdout;
    },
    replaced: () => number,
    async gateway(frontUrl, isWithin) {
      const found = proxiesIn(files()).find(({ proxy }) => proxy.type === "router");
      if (found === undefined) throw new Error("there is a gateway");
      const ids = Array.from({ length: 1_000 }, (_, i) => `router~127.0.0.1~gateway-${i}.shop~shop.svc.cluster.local`);
      const id = ids.find((one) => isWithin(nameHash(one)));
      if (id === undefined) throw new Error("one of a thousand nodes is within");
      return startEnvoy(bootstrapFor({ ...found, node: { ...found.node, id } }, frontUrl, 0, { pollDelayMs: 200 }));
    },
    async close() {
      clearInterval(everySecond);
      await last;
      for (const end of ends) clearTimeout(end);
      await Promise.all([...upstreams].map((one) => one.close()));
      await rm(directory, { recursive: true, force: true });
      if (failed.length > 0) throw failed[0];
    },
  };
}
