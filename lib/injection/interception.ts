import type { Fields } from "../base/untyped.ts";
import { annotated, imageOf, interceptionMode, statusPortOf, type TemplateInput } from "./context.ts";
import { metadataEnvironment } from "./environment.ts";
import { annotationsOf, type Container } from "./pod.ts";
import { proxyUser, resourcesOf } from "./shared-parts.ts";

const traffic = "traffic.sidecar.istio.io";

/** What of a pod's traffic is captured: annotations, else the values. Texts are as iptables' arguments have them. */
function capturedTraffic(input: TemplateInput) {
  const { proxy } = input.values.global;
  const annotations = annotationsOf(input.pod);
  const of = (name: string, usual: string) => annotated(input, `${traffic}/${name}`, usual);
  const isSaid = (name: string, usual: string) => annotations[`${traffic}/${name}`] !== undefined || usual !== "";
  return {
    includeOutboundIPRanges: of("includeOutboundIPRanges", proxy.includeIPRanges),
    excludeOutboundIPRanges: of("excludeOutboundIPRanges", proxy.excludeIPRanges),
    includeInboundPorts: of("includeInboundPorts", proxy.includeInboundPorts),
    excludeInboundPorts: withPort(statusPortOf(input), of("excludeInboundPorts", proxy.excludeInboundPorts)),
    ...(isSaid("includeOutboundPorts", proxy.includeOutboundPorts)
      ? { includeOutboundPorts: of("includeOutboundPorts", proxy.includeOutboundPorts) }
      : {}),
    ...(isSaid("excludeOutboundPorts", proxy.excludeOutboundPorts)
      ? { excludeOutboundPorts: of("excludeOutboundPorts", proxy.excludeOutboundPorts) }
      : {}),
  };
}

/** The port of the agent is left alone too. */
function withPort(port: string, excluded: string): string {
  const own = port.trim();
  const ports = excluded.split(",");
  if (own === "" || own === "0" || ports.includes(own)) return excluded;
  return [...ports.map((one) => one.trim()).filter((one) => one !== ""), own].join(",");
}

/** For Istio's CNI plugin, which captures traffic in the place of a container. */
export function cniAnnotations(input: TemplateInput): Readonly<Record<string, string>> {
  const { cni } = input.values.pilot;
  if (!cni.enabled) return {};
  const annotations = annotationsOf(input.pod);
  const captured = Object.entries(capturedTraffic(input)).filter(
    ([name, text]) => text !== "" || !name.endsWith("IPRanges"),
  );
  const passed = [
    "traffic.sidecar.istio.io/kubevirtInterfaces",
    "istio.io/reroute-virtual-interfaces",
    `${traffic}/excludeInterfaces`,
  ];
  const networks = annotations[networksAnnotation] ?? "";
  return {
    ...(cni.provider === "multus" ? { [networksAnnotation]: withNetwork(networks) } : {}),
    "sidecar.istio.io/interceptionMode": interceptionMode(input),
    ...Object.fromEntries(captured.map(([name, text]) => [`${traffic}/${name}`, text])),
    ...Object.fromEntries(passed.flatMap((name) => (annotations[name] ? [[name, annotations[name]]] : []))),
  };
}

const networksAnnotation = "k8s.v1.cni.cncf.io/networks";
const cniNetwork = "default/istio-cni";

/** Multus' list of networks, in JSON or with commas, with Istio's among them. */
function withNetwork(networks: string): string {
  if (networks === "") return cniNetwork;
  const end = networks.lastIndexOf("]");
  if (end < 0) {
    const listed = networks.split(",").map((one) => one.trim());
    return listed.includes(cniNetwork) ? networks : `${networks}, ${cniNetwork}`;
  }
  if (/"name"\s*:\s*"istio-cni"/.test(networks)) return networks;
  return `${networks.slice(0, end)}, {"name": "istio-cni", "namespace": "default"}${networks.slice(end)}`;
}

/** The container that captures traffic, or with a CNI plugin makes sure that it is captured; undefined where nothing is. */
export function initContainer(input: TemplateInput): Container | undefined {
  const mode = interceptionMode(input);
  if (mode === "NONE") return undefined;
  const { values, meshConfig } = input;
  const { global, pilot } = values;
  const hasPlugin = pilot.cni.enabled;
  const environment = metadataEnvironment(input);
  return {
    name: hasPlugin ? "istio-validation" : "istio-init",
    image: imageOf(input, global.proxy_init.image, ""),
    args: [
      "istio-iptables",
      ...["-p", String(meshConfig.proxyListenPort)],
      ...["-z", String(meshConfig.proxyInboundListenPort)],
      ...["-u", String(proxyUser)],
      ...["-m", mode],
      ...captureArguments(input),
      `--log_output_level=${annotated(input, "sidecar.istio.io/agentLogLevel", global.logging.level)}`,
      ...(global.logAsJson ? ["--log_as_json"] : []),
      ...(hasPlugin ? ["--run-validation", "--skip-rule-apply"] : []),
      ...(!hasPlugin && global.proxy_init.forceApplyIptables ? ["--force-apply"] : []),
      ...(global.nativeNftables ? ["--native-nftables"] : []),
    ],
    ...(global.imagePullPolicy === "" ? {} : { imagePullPolicy: global.imagePullPolicy }),
    ...(environment.length === 0 ? {} : { env: environment }),
    resources: resourcesOf(input),
    securityContext: initSecurity(input),
  };
}

function captureArguments(input: TemplateInput): readonly string[] {
  const captured = capturedTraffic(input);
  const annotations = annotationsOf(input.pod);
  const own = captured.excludeInboundPorts;
  const virtual = annotations["istio.io/reroute-virtual-interfaces"] ?? annotations[`${traffic}/kubevirtInterfaces`];
  const interfaces = annotations[`${traffic}/excludeInterfaces`];
  const some = (flag: string, value: string | undefined) => (value === undefined ? [] : [flag, value]);
  return [
    ...["-i", captured.includeOutboundIPRanges],
    ...["-x", captured.excludeOutboundIPRanges],
    ...["-b", captured.includeInboundPorts],
    ...["-d", ["15090", "15021", ...(own === "" ? [] : [own])].join(",")],
    ...some("-q", captured.includeOutboundPorts),
    ...some("-o", captured.excludeOutboundPorts),
    ...some("-k", virtual),
    ...some("-c", interfaces),
  ];
}

function initSecurity({ values }: TemplateInput): Fields {
  const { privileged, seccompProfile } = values.global.proxy;
  const hasPlugin = values.pilot.cni.enabled;
  const user = hasPlugin ? proxyUser : 0;
  return {
    allowPrivilegeEscalation: privileged,
    privileged,
    capabilities: { ...(hasPlugin ? {} : { add: ["NET_ADMIN", "NET_RAW"] }), drop: ["ALL"] },
    readOnlyRootFilesystem: hasPlugin,
    runAsGroup: user,
    runAsNonRoot: hasPlugin,
    runAsUser: user,
    ...(Object.keys(seccompProfile).length === 0 ? {} : { seccompProfile }),
  };
}
