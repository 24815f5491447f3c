import { dump } from "js-yaml";
import { bootstrapOf } from "../agent/bootstrap.ts";
import { nodeOfWorkload, proxiesOf } from "../compile/census.ts";
import { defaultWorldOptions } from "../compile/world-of.ts";
import { PortolanError } from "../config/diagnostic.ts";
import { readFiles, type SourceFile } from "../config/directory.ts";
import { readFolder } from "../config/folder.ts";
import type { ProxyConfig } from "../config/kinds/mesh-proxy-config.ts";
import { createMemo } from "../mesh/memo/memo.ts";
import { metadataOf } from "../mesh/proxy/node-metadata.ts";
import { type NamedProxy, nodeOfNamed } from "../mesh/proxy/proxy-from-node.ts";
import { buildRegistry } from "../registry/build-registry.ts";
import { proxyServices } from "./proxy-services.ts";
import type { Register } from "./terminal.ts";

/** Folder that `npm start` serves, and the commands beside it read, when none is named. */
export const sampleFolder = "samples/bookshop";

interface Options {
  readonly dir: string;
  readonly server: string;
  readonly adminPort: string;
  readonly json?: boolean;
}

/** `portolan bootstrap NODE`: what one Envoy is started with. */
export const registerBootstrap: Register = (program, terminal) => {
  program
    .command("bootstrap [node]")
    .description(
      "Prints the Envoy bootstrap of one proxy, `pod.namespace`; without a name lists the proxies of the folder.",
    )
    .option("--dir <folder>", "folder whose pods are looked through", sampleFolder)
    .option("--server <url>", "where the front answers", "http://127.0.0.1:8080")
    .option("--admin-port <port>", "port of Envoy's admin interface; 0 takes any", "15000")
    .option("--json", "as JSON instead of YAML")
    .addHelpText(
      "after",
      "\nExample:\n  portolan bootstrap istio-ingressgateway-1.bookshop > envoy.yaml\n  envoy -c envoy.yaml --reject-unknown-dynamic-fields",
    )
    .action(async (node: string | undefined, options: Options) => {
      const { proxies, settings } = proxiesIn(await readFolder(options.dir));
      if (node === undefined) {
        if (options.json === true) terminal.out(JSON.stringify(proxies));
        else for (const proxy of proxies) terminal.out(`${proxy.name}.${proxy.namespace}\t${proxy.type}`);
        return;
      }
      const found = proxies.find(({ name, namespace }) => `${name}.${namespace}` === node);
      if (found === undefined) {
        const known = proxies.map(({ name, namespace }) => `${name}.${namespace}`).join(", ");
        throw new PortolanError(`no pod ${node} with a proxy in ${options.dir}; there are: ${known || "none"}`);
      }
      const bootstrap = bootstrapFor(found, settings, options.server, Number(options.adminPort));
      terminal.out(options.json === true ? JSON.stringify(bootstrap, undefined, 2) : bootstrapText(bootstrap));
    });
};

/** A bootstrap as the YAML file that `envoy -c` reads. */
export function bootstrapText(bootstrap: ReturnType<typeof bootstrapOf>): string {
  return dump(bootstrap, { noRefs: true, lineWidth: 120 }).trimEnd();
}

/** Proxies of a folder, and the settings that each has unless its pod says otherwise. */
export interface FolderProxies {
  readonly proxies: readonly NamedProxy[];
  readonly settings: ProxyConfig;
}

export function proxiesIn(files: readonly SourceFile[]): FolderProxies {
  const { configs, objects, meshConfig, meshNetworks, clusters } = readFiles(files);
  const { domain, clusterId } = defaultWorldOptions;
  const registry = buildRegistry(
    { clusters: [{ id: clusterId, objects }, ...clusters], configs, meshConfig, meshNetworks, domain },
    createMemo(),
  );
  return {
    proxies: proxiesOf(registry.value.workloads, configs, meshConfig).map(nodeOfWorkload),
    settings: meshConfig.defaultConfig,
  };
}

/**
 * @param settings of every proxy, under what its own metadata say
 * @param server URL of the front
 */
export function bootstrapFor(
  proxy: NamedProxy,
  settings: ProxyConfig,
  server: string,
  adminPort: number,
): ReturnType<typeof bootstrapOf> {
  const node = nodeOfNamed(proxy, defaultWorldOptions.domain);
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined) throw new PortolanError(`--server wants a URL such as http://127.0.0.1:8080, not ${server}`);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const nodeCluster = `${proxy.labels?.app ?? proxy.name}.${proxy.namespace}`;
  const { proxyConfig } = metadataOf(node.metadata ?? {}, settings);
  const addresses = typeof proxy.ip === "string" ? [proxy.ip] : proxy.ip;
  return bootstrapOf({
    nodeId: node.id,
    nodeCluster,
    metadata: JSON.parse(JSON.stringify(node.metadata ?? {})),
    ...(node.locality === undefined ? {} : { locality: node.locality }),
    server: {
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port,
      ...(url.protocol === "https:" ? { tls: { caFile: "/etc/ssl/certs/ca-certificates.crt" } } : {}),
    },
    adminPort,
    services: proxyServices(proxyConfig, addresses, nodeCluster),
  });
}
