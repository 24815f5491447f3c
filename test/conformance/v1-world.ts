import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import type { Config } from "../../lib/config/config.ts";
import type { Diagnostic, Stage } from "../../lib/config/diagnostic.ts";
import type { Ingress } from "../../lib/config/kinds/ingress.ts";
import { parseStream } from "../../lib/config/parse.ts";
import { readConfig } from "../../lib/config/read-config.ts";
import type { Protocol } from "../../lib/registry/service.ts";
import type { V1Alpha3Configs } from "../../lib/v1/compat/v1alpha3.ts";
import { ingressRulesOf } from "../../lib/v1/kubernetes-ingress.ts";
import {
  defaultLegacyMeshConfig,
  type LegacyConfigs,
  type LegacyInstance,
  type LegacyMeshConfig,
  type LegacyPort,
  type LegacyService,
  type LegacyWorld,
} from "../../lib/v1/legacy-world.ts";
import { withMeshSettings } from "../../lib/v1/mesh-settings.ts";

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
  const { value, diagnostics } = configsOf(inputs.configs ?? [], folder, mesh);
  const { configs, v1alpha3 } = value;
  const compat = inputs.variant === "0.7" ? { v1alpha3 } : {};
  return { value: { ...registry, mesh, domain: "cluster.local", configs, ...compat }, diagnostics };
}

function meshOf({ meshBase, mesh = {} }: V1Inputs, suite: URL): LegacyMeshConfig {
  const base = meshBase === undefined ? {} : readYaml(new URL(`mesh/${meshBase}.yaml`, suite));
  return withMeshSettings(withMeshSettings(defaultLegacyMeshConfig, base), mesh);
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

function configsOf(
  paths: readonly string[],
  folder: URL,
  mesh: LegacyMeshConfig,
): Stage<{ readonly configs: LegacyConfigs; readonly v1alpha3: V1Alpha3Configs }> {
  const diagnostics: Diagnostic[] = [];
  const read = paths.flatMap((path) => {
    const parsed = parseStream(readFileSync(new URL(path, folder), "utf8"), { file: path });
    diagnostics.push(...parsed.diagnostics);
    return parsed.value.flatMap((object) => {
      const config = readConfig(object);
      diagnostics.push(...config.diagnostics);
      return config.value ?? [];
    });
  });
  const of = <Spec>(kind: string): readonly Config<Spec>[] =>
    // The schema of a kind makes specs of its type: readConfig cannot say so.
    read.filter((config) => config.meta.kind === kind) as readonly Config<Spec>[];
  const ingresses = of<Ingress>("Ingress");
  const configs: LegacyConfigs = {
    routeRules: of("RouteRule"),
    egressRules: of("EgressRule"),
    destinationPolicies: of("DestinationPolicy"),
    ingressRules: [
      ...of<LegacyConfigs["ingressRules"][number]["spec"]>("IngressRule"),
      ...ingresses.flatMap((ingress) => ingressRulesOf(ingress, mesh)),
    ],
    authenticationPolicies: of("Policy"),
    httpApiSpecs: of("HTTPAPISpec"),
    httpApiSpecBindings: of("HTTPAPISpecBinding"),
    quotaSpecs: of("QuotaSpec"),
    quotaSpecBindings: of("QuotaSpecBinding"),
  };
  const v1alpha3: V1Alpha3Configs = {
    virtualServices: of("VirtualService"),
    destinationRules: of("DestinationRule"),
    gateways: of("Gateway"),
    serviceEntries: of("ServiceEntry"),
    endUserSpecs: of("EndUserAuthenticationPolicySpec"),
    endUserBindings: of("EndUserAuthenticationPolicySpecBinding"),
  };
  return { value: { configs, v1alpha3 }, diagnostics };
}

function readYaml(url: URL): Readonly<Record<string, unknown>> {
  const value = load(readFileSync(url, "utf8"));
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
