import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import type { Diagnostic, Stage } from "../../lib/base/diagnostic.ts";
import type { Config } from "../../lib/config/config.ts";
import { parseStream } from "../../lib/config/documents/parse.ts";
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { readConfig } from "../../lib/config/read-config.ts";
import { mergeMeshConfig } from "../../lib/config/read-mesh-config.ts";
import { meshConfig } from "../../lib/config/schema/mesh-config.ts";
import type { Protocol } from "../../lib/registry/service.ts";
import type {
  LegacyInstance,
  LegacyMeshConfig,
  LegacyPort,
  LegacyService,
  LegacyWorld,
} from "../../lib/v1/legacy-world.ts";
import { legacyConfigsOf, v1alpha3ConfigsOf } from "../../lib/v1/legacy-world-of.ts";
import { legacyMeshOf } from "../../lib/v1/mesh-settings.ts";

/** The parts of `case.json` that say what the world is. */
export interface V1Inputs {
  readonly variant: string;
  readonly registry?: string;
  readonly registryOverrides?: readonly {
    readonly hostname: string;
    readonly port: string;
    readonly authenticationPolicy: LegacyPort["authenticationPolicy"];
  }[];
  readonly meshBase?: string;
  readonly mesh?: Readonly<Record<string, unknown>>;
  readonly configs?: readonly string[];
}

interface RegistryFile {
  readonly services: readonly {
    readonly hostname: string;
    readonly address?: string;
    readonly externalName?: string;
    readonly loadBalancingDisabled?: boolean;
    readonly serviceAccounts?: readonly string[];
    readonly ports: readonly {
      readonly name: string;
      readonly port: number;
      readonly protocol: Protocol;
      readonly authenticationPolicy?: LegacyPort["authenticationPolicy"];
    }[];
  }[];
  readonly instances: readonly {
    readonly hostname: string;
    readonly portName: string;
    readonly address: string;
    readonly port: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly availabilityZone?: string;
  }[];
  readonly managementPorts?: readonly { readonly name: string; readonly port: number; readonly protocol: Protocol }[];
}

/** Reads a case's world from the suite's folder and its own. Diagnostics are those of reading its objects. */
export function readV1World(inputs: V1Inputs, suite: URL, folder: URL): Stage<LegacyWorld> {
  const mesh = meshOf(inputs, suite);
  const registry = registryOf(inputs, suite);
  const { value: all, diagnostics } = configsOf(inputs.configs ?? [], folder);
  const configs = legacyConfigsOf(all, mesh);
  const compat = inputs.variant === "0.7" ? { v1alpha3: v1alpha3ConfigsOf(all) } : {};
  return { value: { ...registry, mesh, domain: "cluster.local", configs, ...compat }, diagnostics };
}

/** Some cases have settings that rules of a MeshConfig refuse, so its text is not read with them. */
function meshOf({ meshBase, mesh = {} }: V1Inputs, suite: URL): LegacyMeshConfig {
  const base = meshBase === undefined ? {} : readYaml(new URL(`mesh/${meshBase}.yaml`, suite));
  return legacyMeshOf(mergeMeshConfig(defaultMeshConfig, meshConfig.parse({ ...base, ...mesh })));
}

function registryOf(
  { registry, registryOverrides = [] }: V1Inputs,
  suite: URL,
): Pick<LegacyWorld, "services" | "instances" | "managementPorts"> {
  if (registry === undefined) return { services: [], instances: [], managementPorts: [] };
  const file: RegistryFile = JSON.parse(readFileSync(new URL(`registry/${registry}.json`, suite), "utf8"));
  const services = file.services.map(
    (service): LegacyService => ({
      hostname: service.hostname,
      address: service.address ?? "",
      external: service.externalName !== undefined,
      loadBalancingDisabled: service.loadBalancingDisabled ?? false,
      serviceAccounts: service.serviceAccounts ?? [],
      ports: service.ports.map(({ name, port, protocol, authenticationPolicy = "INHERIT" }) => {
        const override = registryOverrides.find((over) => over.hostname === service.hostname && over.port === name);
        return { name, port, protocol, authenticationPolicy: override?.authenticationPolicy ?? authenticationPolicy };
      }),
    }),
  );
  const instances = file.instances.flatMap((instance): readonly LegacyInstance[] => {
    const service = services.find(({ hostname }) => hostname === instance.hostname);
    const servicePort = service?.ports.find(({ name }) => name === instance.portName);
    if (service === undefined || servicePort === undefined) return [];
    const { address, port, labels = {}, availabilityZone = "" } = instance;
    return [{ service, servicePort, address, port, labels, availabilityZone }];
  });
  return { services, instances, managementPorts: file.managementPorts ?? [] };
}

function configsOf(paths: readonly string[], folder: URL): Stage<readonly Config[]> {
  const diagnostics: Diagnostic[] = [];
  const value = paths.flatMap((path) => {
    const parsed = parseStream(readFileSync(new URL(path, folder), "utf8"), { file: path });
    diagnostics.push(...parsed.diagnostics);
    return parsed.value.flatMap((object) => {
      const config = readConfig(object);
      diagnostics.push(...config.diagnostics);
      return config.value ?? [];
    });
  });
  return { value, diagnostics };
}

function readYaml(url: URL): Readonly<Record<string, unknown>> {
  const value = load(readFileSync(url, "utf8"));
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
