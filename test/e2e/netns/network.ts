/** Pods without Kubernetes: network namespaces on a bridge, made and deleted by a test. Wants root, ip, iptables and setpriv. */
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";

/** Istio's, whose own connections interception leaves alone. */
const sidecarUser = "1337";

/** Arguments of setpriv for what a sidecar runs. */
export const asSidecar = ["--reuid", sidecarUser, "--regid", sidecarUser, "--clear-groups"] as const;

/** Those of one that intercepts by TPROXY, besides: its listeners take connections to addresses that are not its own. */
export const withNetAdmin = ["--inh-caps", "+net_admin", "--ambient-caps", "+net_admin"] as const;

/** What of `portolan intercept` stands in a namespace; "" where nothing does. */
export function interceptionIn(network: Network, namespace: string): string {
  const rules = ["iptables", "ip6tables"].flatMap((program) =>
    ["nat", "mangle", "raw"].flatMap((table) => network.run(namespace, program, ["-t", table, "-S"]).split("\n")),
  );
  const routes = ["-4", "-6"].flatMap((family) => network.run(namespace, "ip", [family, "rule"]).split("\n"));
  return [
    ...rules.filter((line) => line.includes("PORTOLAN")),
    ...routes.filter((line) => line.includes("fwmark")),
  ].join("\n");
}

/** Why there can be no namespaces here; undefined where there can. */
export function withoutNamespaces(): string | undefined {
  if (process.platform !== "linux") return "not Linux";
  if (process.getuid?.() !== 0) return "not root";
  for (const [command, ...args] of [
    ["ip", "-V"],
    ["iptables", "--version"],
    ["setpriv", "--version"],
  ] as const) {
    try {
      execFileSync(command, args, { stdio: "ignore" });
    } catch {
      return `no ${command}`;
    }
  }
  try {
    execFileSync("ip", ["netns", "add", "portolan-try"], { stdio: "ignore" });
    execFileSync("ip", ["netns", "del", "portolan-try"], { stdio: "ignore" });
  } catch {
    return "no network namespaces may be made";
  }
  try {
    // A sidecar is no root, and so is kept out of a checkout under a folder that only root may enter.
    execFileSync("setpriv", [...asSidecar, process.execPath, "--version"], { stdio: "ignore" });
  } catch {
    return `the user ${sidecarUser} may not read ${process.execPath}`;
  }
  return undefined;
}

export interface Network {
  /** Where the bridge is: the front's own. */
  readonly hub: string;
  readonly hubAddress: string;
  /** A namespace with one address, and everything else by way of the hub. */
  addPod(address: string): string;
  /** Runs a command in a namespace. @returns what it prints */
  run(namespace: string, command: string, args: readonly string[], input?: string): string;
  close(): void;
}

const ip = (...args: readonly string[]) => execFileSync("ip", args, { stdio: ["ignore", "pipe", "pipe"] });

export function openNetwork(): Network {
  const prefix = `pt${randomBytes(3).toString("hex")}`;
  const hub = `${prefix}-hub`;
  const namespaces = [hub];
  ip("netns", "add", hub);
  ip("-n", hub, "link", "set", "lo", "up");
  // A bridge without an address of its own takes the lowest of its ports': it would change with a pod, and those before it not know it.
  ip("-n", hub, "link", "add", "br0", "address", "02:00:00:00:00:01", "type", "bridge");
  ip("-n", hub, "addr", "add", "10.55.0.1/24", "dev", "br0");
  ip("-n", hub, "link", "set", "br0", "up");
  return {
    hub,
    hubAddress: "10.55.0.1",
    addPod(address) {
      const namespace = `${prefix}-${namespaces.length}`;
      const outside = `p${namespaces.length}`;
      ip("netns", "add", namespace);
      namespaces.push(namespace);
      ip("-n", namespace, "link", "add", "eth0", "type", "veth", "peer", "name", outside, "netns", hub);
      ip("-n", hub, "link", "set", outside, "master", "br0", "up");
      ip("-n", namespace, "addr", "add", `${address}/24`, "dev", "eth0");
      ip("-n", namespace, "link", "set", "lo", "up");
      ip("-n", namespace, "link", "set", "eth0", "up");
      ip("-n", namespace, "route", "add", "default", "via", "10.55.0.1");
      return namespace;
    },
    run: (namespace, command, args, input = "") =>
      execFileSync("ip", ["netns", "exec", namespace, command, ...args], { input, encoding: "utf8" }),
    close() {
      for (const namespace of namespaces) ip("netns", "del", namespace);
    },
  };
}

/** A program that runs in a namespace. */
export interface PodProgram {
  readonly pid: number;
  /** All that it has printed. */
  printed(): string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export function startIn(
  namespace: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): PodProgram {
  // `ip netns exec` becomes the program: a signal reaches it.
  const child = spawn("ip", ["netns", "exec", namespace, command, ...args], { cwd, env: { ...process.env, ...env } });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      printed = (printed + data).slice(-1_000_000);
    });
  }
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid ?? 0,
    printed: () => printed,
    async kill(signal) {
      child.kill(signal);
      await ended;
    },
  };
}
