import { type Diagnostic, errorsOf, PortolanError } from "../base/diagnostic.ts";
import { distance, nearestName } from "../base/nearest-name.ts";
import { isIpAddress } from "../config/values/ip-address.ts";
import { readAnnotations } from "../mesh/proxy/workload-annotations.ts";
import { injectLabel } from "../registry/kubernetes/injection.ts";

const port = (text: string): boolean => /^\s*\d{1,5}\s*$/.test(text) && Number(text) <= 65_535;
const ports = (text: string): boolean => text.trim() === "" || text.split(",").every(port);
const portsOrAll = (text: string): boolean => text === "*" || ports(text);
const uint32 = (text: string): boolean => /^\d{1,10}$/.test(text) && Number(text) <= 0xffff_ffff;
const flag = (text: string): boolean => /^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(text);
/** The dot stands between the digits, so that no text is tried in two ways. */
const quantity = (text: string): boolean =>
  text.length <= 64 && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:m|k|[KMGTPE]i?|n|u|[eE][+-]?\d+)?$/.test(text);
const interfaces = (text: string): boolean =>
  text === "" || text.split(",").every((name) => /^[^\s/:]{1,15}$/.test(name.trim()));

function range(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  return (
    more.length === 0 &&
    isIpAddress(address) &&
    /^(0|[1-9]\d{0,2})$/.test(bits) &&
    Number(bits) <= (address.includes(":") ? 128 : 32)
  );
}
const ranges = (text: string): boolean => text === "" || text.split(",").every(range);

/** Characters of a value that a message repeats. */
const maxShown = 100;

type Rules = Readonly<Record<string, { readonly isRight: (text: string) => boolean; readonly is: string }>>;

const rules: Rules = {
  "readiness.status.sidecar.istio.io/initialDelaySeconds": { isRight: uint32, is: "a whole number of seconds" },
  "readiness.status.sidecar.istio.io/periodSeconds": { isRight: uint32, is: "a whole number of seconds" },
  "readiness.status.sidecar.istio.io/failureThreshold": { isRight: uint32, is: "a whole number" },
  "traffic.sidecar.istio.io/includeOutboundIPRanges": {
    isRight: (text) => text === "*" || ranges(text),
    is: '"*" or ranges such as 10.0.0.0/8,192.168.0.0/16',
  },
  "traffic.sidecar.istio.io/excludeOutboundIPRanges": { isRight: ranges, is: "ranges such as 10.0.0.0/8" },
  "traffic.sidecar.istio.io/includeInboundPorts": { isRight: portsOrAll, is: '"*" or ports such as 80,8080' },
  "traffic.sidecar.istio.io/excludeInboundPorts": { isRight: ports, is: "ports such as 80,8080" },
  "traffic.sidecar.istio.io/excludeOutboundPorts": { isRight: ports, is: "ports such as 80,8080" },
  "traffic.sidecar.istio.io/excludeInterfaces": { isRight: interfaces, is: "names of interfaces" },
  "traffic.sidecar.istio.io/kubevirtInterfaces": { isRight: interfaces, is: "names of interfaces" },
  "istio.io/reroute-virtual-interfaces": { isRight: interfaces, is: "names of interfaces" },
  "prometheus.istio.io/merge-metrics": { isRight: flag, is: "true or false" },
  "sidecar.istio.io/proxyCPU": { isRight: quantity, is: "a quantity such as 100m" },
  "sidecar.istio.io/proxyMemory": { isRight: quantity, is: "a quantity such as 128Mi" },
  "sidecar.istio.io/proxyCPULimit": { isRight: quantity, is: "a quantity such as 2" },
  "sidecar.istio.io/proxyMemoryLimit": { isRight: quantity, is: "a quantity such as 1Gi" },
};

/**
 * Refuses a pod whose annotations cannot be read, as Istio's injector does.
 *
 * @returns what the annotations say of the proxy's settings
 * @throws PortolanError that names each annotation, with a diagnostic for each, whose path begins at the pod
 * @see istio 1.30.3 pkg/kube/inject/validate.go
 */
export function checkedAnnotations(annotations: Readonly<Record<string, string>>) {
  const origin = { key: { group: "", kind: "Pod", name: "", namespace: "" }, file: "", line: 0 };
  const { value, diagnostics } = readAnnotations({ annotations, origin });
  const wrong = [
    ...brokenRules(annotations, rules).map(({ name, message }) => annotationDiagnostic("error", name, message)),
    ...errorsOf(diagnostics).map((one) => ({
      ...one,
      message: `invalid annotation '${one.path.slice(2).join(".")}': ${one.message}`,
    })),
  ];
  if (wrong.length > 0) throw new PortolanError(wrong.map(({ message }) => message).join("; "), wrong);
  return value;
}

function brokenRules(annotations: Readonly<Record<string, string>>, of: Rules) {
  return Object.entries(annotations).flatMap(([name, text]) => {
    const rule = Object.hasOwn(of, name) ? of[name] : undefined;
    if (rule === undefined || rule.isRight(text)) return [];
    return [
      { name, message: `invalid value '${text.slice(0, maxShown)}' for annotation '${name}': must be ${rule.is}` },
    ];
  });
}

const truth = { isRight: (text: string) => text === "true" || text === "false", is: "true or false" };

/** Values that Istio's injector takes without a word, and that have no effect. */
const unheededRules: Rules = {
  [injectLabel]: truth,
  "sidecar.istio.io/nativeSidecar": truth,
  "sidecar.istio.io/rewriteAppHTTPProbers": { isRight: flag, is: "true or false" },
  "sidecar.istio.io/logLevel": {
    isRight: (text) => /^(?:trace|debug|info|warning|warn|error|critical|off)$/.test(text),
    is: "a level of Envoy's: trace, debug, info, warning, error, critical or off",
  },
};

/** Annotations of injection that have no rule above. */
const plainAnnotations = [
  "agentLogLevel",
  "bootstrapOverride",
  "componentLogLevel",
  "discoveryAddress",
  "extraStatTags",
  "interceptionMode",
  "proxyImage",
  "proxyImageType",
  "statsHistogramBuckets",
  "statsInclusionPrefixes",
  "statsInclusionRegexps",
  "statsInclusionSuffixes",
  "status",
  "userVolume",
  "userVolumeMount",
].map((name) => `sidecar.istio.io/${name}`);

const knownAnnotations: readonly string[] = [
  ...Object.keys(rules),
  ...Object.keys(unheededRules),
  ...plainAnnotations,
  "inject.istio.io/overrides",
  "inject.istio.io/templates",
  "proxy.istio.io/config",
  "proxy.istio.io/overrides",
  "status.sidecar.istio.io/port",
];

/** Looking for the name that was meant takes longest: it is done for so many unknown ones of a pod. */
const maxGuesses = 100;

/** Names that begin so are read by the injector alone. */
const ownPrefix = /^(?:inject|proxy|(?:(?:readiness\.)?status\.|traffic\.)?sidecar)\.istio\.io\//;

/** What a pod's annotations say in vain: values without effect, and names that are nearly one that is known. */
export function unheededAnnotations(annotations: Readonly<Record<string, string>>): readonly Diagnostic[] {
  const unknown = Object.keys(annotations).filter((name) => ownPrefix.test(name) && !knownAnnotations.includes(name));
  const misspelt = unknown.slice(0, maxGuesses).flatMap((name) => {
    const meant = nearestName(name, knownAnnotations);
    return meant === undefined || distance(name.toLowerCase(), meant.toLowerCase()) > 2
      ? []
      : [
          annotationDiagnostic(
            "warning",
            name,
            `the annotation '${name}' is unknown and has no effect: did you mean '${meant}'?`,
          ),
        ];
  });
  const unheeded = brokenRules(annotations, unheededRules).map(({ name, message }) =>
    annotationDiagnostic("warning", name, `${message}; it has no effect`),
  );
  return [...misspelt, ...unheeded];
}

const annotationDiagnostic = (severity: "error" | "warning", name: string, message: string): Diagnostic => ({
  code: "pod-annotation-invalid",
  severity,
  origin: { key: { group: "", kind: "Pod", name: "", namespace: "" }, file: "", line: 0 },
  path: ["metadata", "annotations", name],
  message,
  hint: "",
});
