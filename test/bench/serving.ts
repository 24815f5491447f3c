/** `portolan serve` with the CA and the webhooks, in a folder with a mesh, as a process of its own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokenKeys } from "../e2e/netns/token-keys.ts";
import { freePort } from "../free-port.ts";
import { foldersFiles } from "./mesh-folder.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

const program = new URL("../../functions/portolan.mjs", import.meta.url).pathname;
export const issuer = "https://kubernetes.default.svc.cluster.local";

interface Usage {
  readonly processes: readonly { readonly name: string; readonly bytes: number; readonly cpuMs: number }[];
  readonly bytes: number;
  readonly cpuMs: number;
}

export interface Serving {
  /** The end of its log. */
  tail(): string;
  readonly url: string;
  readonly http: string;
  /** PEM. */
  readonly roots: string;
  token(namespace: string, serviceAccount: string, pod: string): Promise<string>;
  /** Bytes that are its own, and a share of those that it has with others; ms of CPU. Of all its processes together. */
  usage(): Usage;
  /** Kills it, and starts another one in its place. Resolves when that answers. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startServing(services: number): Promise<Serving> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  const keys = await tokenKeys();
  const [port, grpcPort, tlsPort, admissionPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  mkdirSync(join(folder, "mesh"));
  for (const { file, text } of foldersFiles(syntheticMesh(services).text))
    writeFileSync(join(folder, "mesh", file), text);
  writeFileSync(
    join(folder, "auth.json"),
    JSON.stringify({ issuers: [{ issuer, audience: ["istio-ca"], jwks: keys.keys, clusterId: "Kubernetes" }] }),
  );
  writeFileSync(
    join(folder, "settings.yaml"),
    JSON.stringify({
      store: "store",
      secretsKey: "@key",
      front: { port, grpcPort, tlsPort, workers: 1, ca: "on", authentication: "@auth.json" },
      compile: { everySeconds: 3_600, binaryForms: true },
      admission: { port: admissionPort, tlsNames: ["portolan-admission.portolan.svc"], injection: {} },
      collectors: [{ kind: "dir", folder: "mesh" }],
    }),
  );
  const key = randomBytes(32).toString("base64");
  writeFileSync(join(folder, "key"), key);
  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [program, ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, PORTOLAN_SECRETS_KEY: key },
    });
  run("ca", "init", "--trust-domain", "cluster.local", "--store", "store");
  const roots = run("ca", "roots", "--store", "store");

  let log = "";

  async function start(until: readonly string[]): Promise<ChildProcess> {
    const child = spawn(process.execPath, [program, "serve", "--settings", "settings.yaml"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    log = "";
    await new Promise<void>((resolve, reject) => {
      const hear = (data: Buffer) => {
        log = (log + data.toString()).slice(-200_000);
        if (until.every((text) => log.includes(text))) resolve();
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.once("exit", () => reject(new Error(`serve has ended: ${log.slice(-2_000)}`)));
    });
    return child;
  }
  let child = await start(['"msg":"serving"', "compiled: published"]);
  const end = async () => {
    const exit = once(child, "exit");
    for (const pid of treeOf(child.pid ?? 0)) process.kill(pid, "SIGKILL");
    await exit;
  };
  return {
    tail: () => log.slice(-6_000),
    url: `https://127.0.0.1:${tlsPort}`,
    http: `http://127.0.0.1:${port}`,
    roots,
    token: (namespace, serviceAccount, pod) =>
      keys.token(issuer, `system:serviceaccount:${namespace}:${serviceAccount}`, "istio-ca", {
        "kubernetes.io": { namespace, pod: { name: pod }, serviceaccount: { name: serviceAccount } },
      }),
    usage() {
      const all = treeOf(child.pid ?? 0).map(usageOf);
      return {
        processes: all,
        bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
        cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      };
    },
    async restart() {
      await end();
      child = await start(['"msg":"serving"']);
    },
    async close() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A process and all that it has started, itself or through others. */
function treeOf(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(statOf(Number(name))[1]));
    } catch {
      // It has ended.
    }
  }
  const tree = new Set([root]);
  // A set that grows is walked to its end.
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.add(child);
  return [...tree];
}

/** The fields of /proc/PID/stat after the name, which may hold anything. */
function statOf(pid: number): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function usageOf(pid: number) {
  const fields = statOf(pid);
  const kib = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? "0";
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const name = words
    .filter((word) => !/node$|^--/.test(word))
    .map((word) => word.replace(/^.*\//, ""))
    .join(" ")
    .trim();
  return { name, bytes: Number(kib) * 1_024, cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
}
