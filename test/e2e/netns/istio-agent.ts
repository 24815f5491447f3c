/** Istio's own agent, unmodified, in a pod that is a network namespace, with a stock Envoy. */
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serverBinary } from "../../servers/server-binaries.ts";
import { envoyPath } from "../envoy.ts";
import { asSidecar, type Network, type PodProgram, startIn } from "./network.ts";

/** The agent and the template of its bootstrap; undefined where `npm run test:servers` has not built them. */
export function istioAgent(): { readonly program: string; readonly bootstrap: string } | undefined {
  const program = serverBinary("pilot-agent-eed52ebb66ad");
  const bootstrap = serverBinary("istio-bootstrap-eed52ebb66ad.json");
  // By their own paths: the agent's user may not enter every folder that a link stands in.
  return program && bootstrap ? { program: realpathSync(program), bootstrap: realpathSync(bootstrap) } : undefined;
}

/** What Kubernetes and Istio's injector give a pod. */
export interface IstioPod {
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly address: string;
  /** A token of the service account, for the audience `istio-ca`. */
  readonly token: string;
  /** Roots that the agent trusts the server by, PEM. */
  readonly roots: string;
  readonly env?: Readonly<Record<string, string>>;
  /** `sidecar` when absent. */
  readonly role?: "sidecar" | "router";
}

/**
 * A pod's network, with everything led through the Envoy as Istio's init container does it, and `istiod`'s name leading to the hub.
 *
 * @param nameServer says in place of a file where `istiod` is
 */
export function addIstioPod(network: Network, address: string, nameServer?: string): string {
  const namespace = addGatewayPod(network, address, nameServer);
  const rules = [
    "-p",
    "15001",
    "-z",
    "15006",
    "-u",
    "1337",
    "-m",
    "REDIRECT",
    "-i",
    "*",
    "-b",
    "*",
    "-d",
    "15020,15021",
  ];
  network.run(namespace, istioAgent()?.program ?? "", ["istio-iptables", ...rules]);
  return namespace;
}

/** The same without the interception, which a gateway has not. */
export function addGatewayPod(network: Network, address: string, nameServer?: string): string {
  const namespace = network.addPod(address);
  const own = `/etc/netns/${namespace}`;
  mkdirSync(own, { recursive: true });
  const istiod = nameServer === undefined ? `${network.hubAddress} istiod.istio-system.svc\n` : "";
  writeFileSync(join(own, "hosts"), `127.0.0.1 localhost\n${istiod}`);
  if (nameServer !== undefined) writeFileSync(join(own, "resolv.conf"), `nameserver ${nameServer}\n`);
  return namespace;
}

/** Removes what `addIstioPod` has put beside the namespace. */
export const forgetIstioPod = (namespace: string): void => rmSync(`/etc/netns/${namespace}`, { recursive: true });

export function startIstioAgent(namespace: string, folder: string, pod: IstioPod): PodProgram {
  const { program = "", bootstrap = "" } = istioAgent() ?? {};
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write("var/run/secrets/tokens/istio-token", pod.token);
  write("var/run/secrets/istio/root-cert.pem", pod.roots);
  for (const made of ["etc/istio/proxy", "var/lib/istio/data", "var/run/secrets/workload-spiffe-uds"])
    mkdirSync(join(folder, made), { recursive: true });
  execFileSync("chown", ["-R", "1337:1337", folder]);
  const args = [
    "proxy",
    pod.role ?? "sidecar",
    "--domain",
    `${pod.namespace}.svc.cluster.local`,
    "--proxyLogLevel=warning",
  ];
  return startIn(namespace, "setpriv", [...asSidecar, "env", "-C", folder, program, ...args], {
    POD_NAME: pod.name,
    POD_NAMESPACE: pod.namespace,
    SERVICE_ACCOUNT: pod.serviceAccount,
    INSTANCE_IP: pod.address,
    HOST_IP: pod.address,
    TRUST_DOMAIN: "cluster.local",
    PILOT_CERT_PROVIDER: "istiod",
    PROXY_CONFIG_XDS_AGENT: "true",
    ISTIO_BOOTSTRAP: bootstrap,
    ISTIO_META_CLUSTER_ID: "Kubernetes",
    ISTIO_META_INTERCEPTION_MODE: "REDIRECT",
    ISTIO_META_WORKLOAD_NAME: pod.name,
    ISTIO_METAJSON_LABELS: JSON.stringify({ app: pod.name }),
    PROXY_CONFIG: `{binaryPath: ${envoyPath()}, concurrency: 1}`,
    ...pod.env,
  });
}

/** Ends all processes in a namespace, those that others have started too. */
export function killAllIn(namespace: string): void {
  const pids = execFileSync("ip", ["netns", "pids", namespace], { encoding: "utf8" }).split("\n");
  for (const pid of pids) if (pid !== "") process.kill(Number(pid), "SIGKILL");
}

/** How long an agent says that it took from its start until its Envoy was ready, in milliseconds; undefined while it is not. */
export function readyAfterMs(agent: PodProgram): number | undefined {
  const [, amount, unit] = /Readiness succeeded in ([\d.]+)(m?s)/.exec(agent.printed()) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unit === "ms" ? 1 : 1_000);
}
