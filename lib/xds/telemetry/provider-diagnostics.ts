import type { Diagnostic } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { ExtensionProvider, ProviderService } from "../../config/kinds/extension-provider.ts";
import type { Telemetry } from "../../config/kinds/telemetry.ts";
import type { WorkloadPolicies } from "../../mesh/views/views.ts";
import { providerCluster, type ScopedProviders } from "./provider-cluster.ts";
import { findProvider } from "./telemetry-side.ts";

type Part = "tracing" | "accessLogging";

/** Kinds of providers that a part of a Telemetry object can use. */
const suitable = {
  tracing: ["zipkin", "datadog", "skywalking", "opentelemetry"],
  accessLogging: ["envoyFileAccessLog", "envoyHttpAls", "envoyTcpAls", "envoyOtelAls"],
} as const satisfies Record<Part, readonly (keyof ExtensionProvider)[]>;

/**
 * What Istio leaves out in silence: providers that a Telemetry object names and that nobody defined, that are of another
 * sort, or whose service nobody knows.
 */
export function providerDiagnostics(
  telemetry: WorkloadPolicies["telemetry"],
  lookups: ScopedProviders,
): readonly Diagnostic[] {
  const { extensionProviders } = lookups.mesh;
  const check = (config: Config<Telemetry>, part: Part): readonly Diagnostic[] =>
    (config.spec[part] ?? []).flatMap(({ providers = [] }, rule) =>
      providers.flatMap(({ name }, index) => {
        const path = ["spec", part, rule, "providers", index, "name"];
        const provider = findProvider(extensionProviders, name);
        const problem = provider === undefined ? noSuchProvider(name) : problemOf(provider, part);
        return problem === undefined ? [] : [{ ...problem, severity: "warning", origin: config.origin, path }];
      }),
    );
  const problemOf = (
    provider: ExtensionProvider,
    part: Part,
  ): Pick<Diagnostic, "code" | "message" | "hint"> | undefined => {
    const kind = suitable[part].find((candidate) => provider[candidate] !== undefined);
    if (kind === undefined) return unsuitable(provider.name, part);
    const service = kind === "envoyFileAccessLog" ? undefined : provider[kind];
    if (service === undefined) return undefined;
    const target = providerCluster(lookups, service);
    if (target === undefined) return unreachable(provider.name, service);
    const insists = kind === "zipkin" || kind === "datadog";
    return insists && !lookups.isInScope(target.hostname, service.port) ? unseen(provider.name, service) : undefined;
  };
  return telemetry.flatMap((config) => [...check(config, "tracing"), ...check(config, "accessLogging")]);
}

function noSuchProvider(name: string): Pick<Diagnostic, "code" | "message" | "hint"> {
  return {
    code: "unknown-extension-provider",
    message: `no extension provider is named ${name}`,
    hint: "define it under extensionProviders in the mesh configuration",
  };
}

function unsuitable(name: string, part: Part): Pick<Diagnostic, "code" | "message" | "hint"> {
  return {
    code: "unsuitable-extension-provider",
    message: `the extension provider ${name} cannot be used for ${part === "tracing" ? "tracing" : "access logs"}`,
    hint: "name a provider of another kind",
  };
}

function unreachable(name: string, { service }: ProviderService): Pick<Diagnostic, "code" | "message" | "hint"> {
  return {
    code: "unknown-provider-service",
    message: `the extension provider ${name} runs at ${service}, which is in no registry, or in several namespaces`,
    hint: "name the service as namespace/host, and make it or a ServiceEntry for it",
  };
}

function unseen(name: string, { service, port }: ProviderService): Pick<Diagnostic, "code" | "message" | "hint"> {
  return {
    code: "provider-service-not-in-scope",
    message: `the extension provider ${name} runs at port ${port} of ${service}, which a workload does not see; it is not traced`,
    hint: "export the service to the namespace, import it in the Sidecar, and name a port that it has",
  };
}
