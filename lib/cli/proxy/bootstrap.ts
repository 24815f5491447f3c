import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { dump } from "js-yaml";
import { bootstrapOf, type ControlPlane, identityCluster, type Transport, tokenSecret } from "../../agent/bootstrap.ts";
import type { BootstrapExtras } from "../../agent/bootstrap-extras.ts";
import { type Diagnostic, PortolanError, type Stage } from "../../base/diagnostic.ts";
import { workloadProxies } from "../../compile/workload-proxies.ts";
import { clustersOf, defaultWorldOptions, gatewaysIn } from "../../compile/world/world-of.ts";
import { type LoadedDirectory, readFiles, type SourceFile } from "../../config/folder/directory.ts";
import { readFolder } from "../../config/folder/folder.ts";
import { defaultGatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import { createMemo } from "../../incremental/memo.ts";
import { isFlagSet } from "../../mesh/proxy/node-metadata.ts";
import type { WorkloadProxy } from "../../mesh/proxy/proxy-of-workload.ts";
import type { CertificateSource } from "../../mesh/world.ts";
import { buildRegistry } from "../../registry/build-registry.ts";
import { templatePodAddress } from "../../registry/kubernetes/template-pod.ts";
import { kubeOption } from "../kube/kube-connection.ts";
import { clusterContent } from "../kube/kube-read.ts";
import { wholeNumber } from "../numbers.ts";
import { serverAt, serverUrl, systemRoots } from "../server-url.ts";
import { sampleFolder } from "../shipped.ts";
import { printDiagnostics, type Register, type Terminal } from "../terminal.ts";
import { type BootstrapProxy, podInfoFolder, proxyInFile, proxyOfThisPod } from "./bootstrap-node.ts";
import { grpcBootstrapText } from "./grpc-bootstrap.ts";
import { proxyServices } from "./proxy-services.ts";

interface Options {
  readonly dir: string;
  readonly kube?: string;
  readonly server: string;
  readonly adminPort: number;
  readonly certificates: CertificateSource;
  readonly ads?: Transport | true;
  readonly pollDelay?: number;
  readonly files?: string;
  readonly node?: string;
  readonly thisPod?: boolean;
  readonly gateway?: boolean;
  readonly podInfo: string;
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly readinessPort?: number;
  readonly prometheusPort?: number;
  readonly statsTags?: boolean;
  readonly certificateFolder: string;
  readonly json?: boolean;
  readonly tokenFile?: string;
  readonly out?: string;
  readonly at?: string;
}

/** `portolan bootstrap NODE`: what one Envoy is started with. */
export const registerBootstrap: Register = (program, terminal) => {
  program
    .command("bootstrap [node]")
    .description(
      "Prints the bootstrap of a proxy, `pod.namespace`: an Envoy or a proxyless gRPC client. Without a name it lists the proxies of the folder.",
    )
    .option("--dir <folder>", "folder with the pods and pod templates", sampleFolder())
    .addOption(kubeOption("a live cluster's pods instead of a folder's").conflicts("dir"))
    .option("--server <url>", "URL of the front", serverUrl, "http://127.0.0.1:8080")
    .option("--admin-port <port>", "port of Envoy's admin interface; 0 takes any", wholeNumber(0, 65_535), 15_000)
    .addOption(certificatesOption())
    .addOption(
      new Option("--ads [kind]", "a stream over gRPC instead of polls: delta (default) or sotw").choices([
        "delta",
        "sotw",
      ]),
    )
    .addOption(
      new Option("--certificate-folder <path>", "folder of a proxyless gRPC client's certificates").default(
        "/etc/certs",
      ),
    )
    .addOption(pollDelayOption())
    .option(
      "--files <folder>",
      "read clusters and listeners from the folder that `portolan agent --once` fills, instead of polling",
    )
    .option("--node <file>", "use the node of this JSON file instead of a pod of a folder")
    .option("--this-pod", "use the pod that this command runs in, from the downward API's variables and files")
    .option("--gateway", "with --this-pod: the proxy is a gateway, not a sidecar")
    .option(
      "--pod-info <folder>",
      "with --this-pod: folder of the downward API's files labels and annotations",
      podInfoFolder,
    )
    .option("--ca <file>", "CA certificates that must have issued the front's certificate", systemRoots)
    .option("--certificate <file>", "the proxy's own certificate for the front; needs --key")
    .option("--key <file>", "its key")
    .option("--readiness-port <port>", "port of a listener for /healthz/ready; 15021 in Istio", wholeNumber(1, 65_535))
    .option(
      "--prometheus-port <port>",
      "port of a listener for /stats/prometheus; 15090 in Istio",
      wholeNumber(1, 65_535),
    )
    .option("--stats-tags", "tag statistics as Istio does")
    .option("--json", "as JSON instead of YAML")
    .option("--token-file <path>", "path of the proxy's token on its machine; needs --out")
    .option("--out <folder>", "write envoy.yaml and its other files into this folder, instead of printing it")
    .option("--at <folder>", "path of that folder on the proxy's machine (default: --out)")
    .addHelpText(
      "after",
      "\nExample:\n  portolan bootstrap istio-ingressgateway-1.bookshop > envoy.yaml\n  envoy -c envoy.yaml --reject-unknown-dynamic-fields\n  portolan bootstrap istio-ingressgateway-1.bookshop --ads --server http://127.0.0.1:18000\n  portolan bootstrap echo-1.shop --dir shop/ --server http://127.0.0.1:18000 > grpc-bootstrap.json",
    )
    .action(async (node: string | undefined, options: Options, command: Command) => {
      if (options.ads !== undefined && command.getOptionValueSource("server") === "default")
        throw new PortolanError(`--ads needs ${wantsStreams}`);
      const found = await proxyFor(node, options, terminal);
      if (found === undefined) return;
      if ("proxy" in found && found.proxy.type === "grpc") {
        if (command.getOptionValueSource("server") === "default")
          throw new PortolanError(`${node} is a gRPC program and reads a stream: ${wantsStreams}`);
        const text = grpcBootstrapText(found, options);
        if (options.out === undefined) terminal.out(text);
        else await writeInto(options.out, "grpc-bootstrap.json", text);
        return;
      }
      if (options.tokenFile !== undefined && options.out === undefined)
        throw new PortolanError("--token-file needs --out: the bootstrap comes with a second file");
      const tokenSecretFile = join(options.at ?? resolve(options.out ?? "."), tokenSecretName);
      const access = options.tokenFile === undefined ? {} : { tokenSecretFile };
      const { server, adminPort, certificates, ads, files, ca, certificate, key, pollDelay: pollDelayMs } = options;
      const { readinessPort, prometheusPort, statsTags } = options;
      if ((certificate === undefined) !== (key === undefined))
        throw new PortolanError("--certificate and --key must be used together");
      if (adminPort === 0 && (readinessPort ?? prometheusPort) !== undefined)
        throw new PortolanError("a listener for probes or metrics needs a fixed --admin-port");
      const transport = files !== undefined ? "files" : ads === undefined ? "rest" : ads === true ? "delta" : ads;
      const bootstrap = bootstrapFor(found, server, adminPort, {
        certificates,
        transport,
        pollDelayMs,
        folder: files === undefined ? undefined : resolve(files),
        tls: { caFile: ca, certificateFile: certificate, keyFile: key },
        extras: { readinessPort, prometheusPort, statsTags },
        ...access,
      });
      const text = options.json === true ? JSON.stringify(bootstrap, undefined, 2) : bootstrapText(bootstrap);
      if (options.out === undefined) {
        terminal.out(text);
        return;
      }
      await writeInto(options.out, "envoy.yaml", text);
      if (options.tokenFile !== undefined)
        await writeInto(options.out, tokenSecretName, dump(tokenSecret(options.tokenFile)).trimEnd());
    });
};

const wantsStreams = "--server: where `portolan dev --grpc-port`, or PORTOLAN_GRPC_PORT, serves";

async function writeInto(folder: string, file: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, file), `${text}\n`);
}

/**
 * The proxy that a command line names.
 *
 * @returns undefined when it names none, and was told of all
 * @throws PortolanError when there is none of that name
 * @throws InvalidArgumentError when it names none, and is to write a bootstrap
 */
async function proxyFor(
  node: string | undefined,
  options: Options,
  terminal: Terminal,
): Promise<BootstrapProxy | WorkloadProxy | undefined> {
  const { dir, kube, json, node: file, thisPod = false, gateway = false, podInfo } = options;
  if (file !== undefined) return proxyInFile(file);
  if (thisPod) {
    const environment = Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const { value, diagnostics } = await proxyOfThisPod(environment, gateway ? "router" : "sidecar", podInfo);
    printDiagnostics(terminal, diagnostics.filter(isTrouble));
    return value;
  }
  const loaded = kube === undefined ? readFiles(await readFolder(dir)) : await clusterContent(kube);
  const { value: proxies, diagnostics } = proxiesOf(loaded);
  printDiagnostics(terminal, diagnostics.filter(isTrouble));
  if (node === undefined) {
    refuseNameless(options, proxies);
    const nodes = proxies.map((proxy) => proxy.node);
    if (json === true) terminal.out(JSON.stringify(nodes));
    else for (const { proxy } of proxies) terminal.out(`${proxy.id}\t${proxy.type}`);
    return undefined;
  }
  const found = proxies.find(({ proxy }) => proxy.id === node);
  if (found === undefined) {
    const known = proxies.map(({ proxy }) => proxy.id).join(", ");
    const where = kube === undefined ? dir : "the cluster";
    throw new PortolanError(`no workload ${node} with a proxy in ${where}; there are: ${known || "none"}`);
  }
  if (found.proxy.addresses.includes(templatePodAddress)) {
    terminal.err(
      `${node} is the template of pods that do not exist yet: replace ${templatePodAddress} with the pod's address`,
    );
  }
  return found;
}

const maxNamed = 20;

/** Without a name the proxies are listed and nothing is written, so options of a bootstrap that is written need one. */
function refuseNameless({ out, at, tokenFile }: Options, proxies: readonly WorkloadProxy[]): void {
  const [option] =
    Object.entries({ "--out": out, "--token-file": tokenFile, "--at": at }).find(([, value]) => value !== undefined) ??
    [];
  if (option === undefined) return;
  const names = proxies.map(({ proxy }) => proxy.id);
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  throw new InvalidArgumentError(
    `${option} needs the name of a proxy, such as \`portolan bootstrap ${names[0] ?? "POD.NAMESPACE"} ${option} …\`; ` +
      `there are: ${names.slice(0, maxNamed).join(", ") || "none"}${more}`,
  );
}

/** Name of the file that leads a bootstrap to its token. */
const tokenSecretName = "token.sds.yaml";

/** A bootstrap as the YAML file that `envoy -c` reads. */
export function bootstrapText(bootstrap: ReturnType<typeof bootstrapOf>): string {
  return dump(bootstrap, { noRefs: true, lineWidth: 120 }).trimEnd();
}

/** The proxies that a folder is compiled for. */
export const proxiesIn = (files: readonly SourceFile[]): readonly WorkloadProxy[] => proxiesOf(readFiles(files)).value;

/** The same, with what annotations, WorkloadGroups and ProxyConfigs say that a proxy cannot be told. */
export function proxiesOf(loaded: LoadedDirectory): Stage<readonly WorkloadProxy[]> {
  const { configs, meshConfig, meshNetworks, settings } = loaded;
  const { domain, clusterId } = defaultWorldOptions;
  const memo = createMemo();
  const registry = buildRegistry({
    clusters: clustersOf(loaded, clusterId),
    configs,
    meshConfig,
    meshNetworks,
    domain,
  });
  const gatewayApi = { ...defaultGatewayApiSettings, ...settings.gatewayApi };
  const gatewayWorkloads = gatewaysIn(configs, registry.value.services, gatewayApi, memo);
  return workloadProxies(registry.value.workloads, { configs, meshConfig, domain, gatewayWorkloads }, memo);
}

/** The option that says where proxies have certificates from: a bootstrap says what its mesh is compiled with. */
export function certificatesOption(): Option {
  const text = "mTLS certificates from an SDS agent, from files in /etc/certs, or none: plain text between workloads";
  return new Option("--certificates <where>", text).choices(["sds", "files", "none"]).default("sds");
}

/** The option that says how fast Envoys poll: a bootstrap says what its mesh is compiled with. */
/** @param usual for the help of commands that leave the default to whoever compiles */
export const pollDelayOption = (usual = " (default: 1000)"): Option =>
  new Option(
    "--poll-delay <ms>",
    `how long Envoys wait between polls, and up to as long again; 100 fits a front that holds polls${usual}`,
  ).argParser(wholeNumber(1, 99_999));

/** What is wrong, as against what has no effect. */
export const isTrouble = ({ severity }: Diagnostic): boolean => severity !== "info";

/**
 * What a proxy's Envoy is started with. Its node is the one that the proxy was compiled for.
 *
 * @param server URL of the front, of http or https
 */
export function bootstrapFor(
  { node, settings, ...where }: BootstrapProxy | WorkloadProxy,
  server: string,
  adminPort: number,
  { certificates = "sds", transport = "rest", pollDelayMs, folder, extras, tls, ...access }: BootstrapWays = {},
): ReturnType<typeof bootstrapOf> {
  const services = proxyServices(settings, "proxy" in where ? where.proxy.addresses : where.addresses, node.cluster);
  return bootstrapOf({
    nodeId: node.id,
    nodeCluster: node.cluster,
    metadata: JSON.parse(JSON.stringify(node.metadata)),
    ...(node.locality === undefined ? {} : { locality: node.locality }),
    server: { ...serverAt(server, tls), ...access },
    transport,
    pollDelayMs,
    folder,
    ...(extras === undefined ? {} : { extras }),
    adminPort,
    services,
    connectionLimit: settings.connectionSettings?.globalDownstreamConnectionLimit,
    hasLocalCluster: isFlagSet(node.metadata.ENABLE_SELF_DISCOVERY),
    // What a proxy reports to may want certificates of its own accord.
    hasIdentity: certificates === "sds" || JSON.stringify(services.clusters).includes(identityCluster),
  });
}

/** How a proxy is told what is meant for it, and what else its bootstrap has. */
interface BootstrapWays extends Pick<ControlPlane, "tokenSecretFile" | "tls"> {
  readonly certificates?: CertificateSource;
  readonly transport?: Transport;
  readonly pollDelayMs?: number | undefined;
  readonly folder?: string | undefined;
  readonly extras?: BootstrapExtras;
}
