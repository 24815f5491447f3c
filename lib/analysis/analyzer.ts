import type { Diagnostic, Origin } from "../base/diagnostic.ts";
import type { AnalysisCode } from "../base/diagnostic-codes.ts";
import type { Config } from "../config/config.ts";
import { at, type Path } from "../config/finding.ts";
import type { Analysis } from "./analysis-input.ts";

/** One of istioctl's analysers, or one of our own, whose name begins with `portolan.`. */
export interface Analyzer {
  /** `virtualservice.GatewayAnalyzer`, as `--analyzer` takes it. */
  readonly name: string;
  /** One line for `--list`. */
  readonly about: string;
  analyze(analysis: Analysis): Iterable<Diagnostic>;
}

/** Message codes, istioctl's and those of checks that it does not make: name and level. @see docs/how-istio-does-it/analysis.md#codes */
export const messageTypes = {
  IST0002: ["Deprecated", "warning"],
  IST0101: ["ReferencedResourceNotFound", "error"],
  IST0102: ["NamespaceNotInjected", "info"],
  IST0103: ["PodMissingProxy", "warning"],
  IST0106: ["SchemaValidationError", "error"],
  IST0109: ["ConflictingMeshGatewayVirtualServiceHosts", "error"],
  IST0110: ["ConflictingSidecarWorkloadSelectors", "error"],
  IST0111: ["MultipleSidecarsWithoutWorkloadSelectors", "error"],
  IST0112: ["VirtualServiceDestinationPortSelectorRequired", "error"],
  IST0116: ["DeploymentAssociatedToMultipleServices", "warning"],
  IST0118: ["PortNameIsNotUnderNamingConvention", "info"],
  IST0123: ["NamespaceMultipleInjectionLabels", "warning"],
  IST0126: ["UnknownMeshNetworksServiceRegistry", "error"],
  IST0127: ["NoMatchingWorkloadsFound", "warning"],
  IST0128: ["NoServerCertificateVerificationDestinationLevel", "warning"],
  IST0129: ["NoServerCertificateVerificationPortLevel", "warning"],
  IST0130: ["VirtualServiceUnreachableRule", "warning"],
  IST0131: ["VirtualServiceIneffectiveMatch", "info"],
  IST0132: ["VirtualServiceHostNotFoundInGateway", "warning"],
  IST0133: ["SchemaWarning", "warning"],
  IST0134: ["ServiceEntryAddressesRequired", "warning"],
  IST0137: ["DeploymentConflictingPorts", "warning"],
  IST0138: ["GatewayDuplicateCertificate", "warning"],
  IST0140: ["IngressRouteRulesNotAffected", "warning"],
  IST0144: ["InvalidApplicationUID", "warning"],
  IST0145: ["ConflictingGateways", "error"],
  IST0149: ["JwtClaimBasedRoutingWithoutRequestAuthN", "error"],
  IST0150: ["ExternalNameServiceTypeInvalidPortName", "warning"],
  IST0151: ["EnvoyFilterUsesRelativeOperation", "warning"],
  IST0152: ["EnvoyFilterUsesReplaceOperationIncorrectly", "error"],
  IST0153: ["EnvoyFilterUsesAddOperationIncorrectly", "error"],
  IST0154: ["EnvoyFilterUsesRemoveOperationIncorrectly", "error"],
  IST0155: ["EnvoyFilterUsesRelativeOperationWithProxyVersion", "warning"],
  IST0157: ["InvalidTelemetryProvider", "warning"],
  IST0159: ["ConflictingTelemetryWorkloadSelectors", "error"],
  IST0160: ["MultipleTelemetriesWithoutWorkloadSelectors", "error"],
  IST0161: ["InvalidGatewayCredential", "error"],
  IST0162: ["GatewayPortNotDefinedOnService", "warning"],
  IST0173: ["DestinationRuleSubsetNotSelectPods", "error"],
  IST0174: ["UnknownDestinationRuleHost", "warning"],
  IST0177: ["ConflictingServiceEntryProtocol", "warning"],
  "connection-reuse": ["ConnectionReuse", "warning"],
  "paths-only-redirected": ["PathsOnlyRedirected", "warning"],
  "prefix-rewrite-joined": ["PrefixRewriteJoined", "warning"],
  "rewrite-without-effect": ["RewriteWithoutEffect", "warning"],
  "service-hidden-by-sidecar": ["ServiceHiddenBySidecar", "warning"],
  "subset-not-in-reach": ["SubsetNotInReach", "warning"],
  "wildcard-host-hidden": ["WildcardHostHidden", "warning"],
} as const satisfies Readonly<Record<AnalysisCode, readonly [string, Diagnostic["severity"]]>>;

/** A message about a config, or about anything else with an origin. */
export function found(
  code: AnalysisCode,
  about: Config | { readonly origin: Origin },
  path: Path,
  message: string,
  hint = "",
): Diagnostic {
  const severity = messageTypes[code][1];
  return at(about.origin, { code, severity, path, message, hint });
}

/** The reference that leads nowhere. */
export function notFound(config: Config, path: Path, what: string, name: string): Diagnostic {
  return found("IST0101", config, path, `referenced ${what} not found: ${JSON.stringify(name)}`);
}
