import { type Diagnostic, fileOrigin, type Stage } from "../base/diagnostic.ts";
import type { Config } from "../config/config.ts";
import type { DestinationRule, TrafficPolicy } from "../config/kinds/destination-rule.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { PeerAuthentication } from "../config/kinds/peer-authentication.ts";
import { keepList } from "../incremental/keep-identity.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { PeerAuthenticationIndex } from "./index/peer-authentication.ts";

/** Who has no certificate takes plain text, whatever policies say. */
export const plainPeers: PeerAuthenticationIndex = {
  namespaceMode: () => "DISABLE",
  serviceMode: () => "DISABLE",
  workloadPolicy: () => undefined,
  workloadMode: () => "DISABLE",
  servedModes: () => ({ policy: undefined, general: "DISABLE" }),
};

/** What a mesh without certificates reads in place of what operators wrote. */
export interface PlainObjects {
  /** Without ISTIO_MUTUAL; rules that did not state it are the same objects. */
  readonly destinationRules: readonly Config<DestinationRule>[];
  /** Without the servers that end ISTIO_MUTUAL: nobody could connect to them. */
  readonly gateways: readonly Config<Gateway>[];
}

interface Written extends PlainObjects {
  readonly peerAuthentications: readonly Config<PeerAuthentication>[];
}

/**
 * The objects of a mesh whose workloads have no certificates (`--certificates none`).
 *
 * @returns with a word about the mesh, so that nobody takes it for another, and a warning for each object that asks for what only
 *   certificates can do
 */
export function withoutCertificates(written: Written, memo: Memo): Stage<PlainObjects> {
  const rules = written.destinationRules.map((config) => plainRule(memo, { config }));
  const gateways = written.gateways.map((config) => plainGateway(memo, { config }));
  const peers = written.peerAuthentications.filter(({ spec }) => isStrict(spec));
  return {
    value: {
      destinationRules: keepList(memo, "plain rules", valuesOf(rules)),
      gateways: keepList(memo, "plain gateways", valuesOf(gateways)),
    },
    diagnostics: [
      everywhere,
      ...peers.map((config) => lost(config, "STRICT does not hold: its workloads take plain text")),
      ...[...rules, ...gateways].flatMap(({ diagnostics }) => diagnostics),
    ],
  };
}

const valuesOf = <T>(stages: readonly Stage<T>[]): readonly T[] => stages.map(({ value }) => value);

const isStrict = ({ mtls, portLevelMtls = {} }: PeerAuthentication): boolean =>
  [mtls, ...Object.values(portLevelMtls)].some((one) => one?.mode === "STRICT");

const plainRule = query(
  "destination rule without certificates",
  ({ config }: { readonly config: Config<DestinationRule> }): Stage<Config<DestinationRule>> => {
    const { trafficPolicy, subsets } = config.spec;
    const policies = [trafficPolicy, ...(subsets ?? []).map((subset) => subset.trafficPolicy)];
    if (!policies.some((policy) => policy !== undefined && isMutual(policy))) return { value: config, diagnostics: [] };
    const spec: DestinationRule = {
      ...config.spec,
      ...(trafficPolicy === undefined ? {} : { trafficPolicy: plainPolicy(trafficPolicy) }),
      ...(subsets === undefined
        ? {}
        : {
            subsets: subsets.map((subset) =>
              subset.trafficPolicy === undefined
                ? subset
                : { ...subset, trafficPolicy: plainPolicy(subset.trafficPolicy) },
            ),
          }),
    };
    const diagnostics = [lost(config, "ISTIO_MUTUAL counts as DISABLE: requests go out in plain text")];
    return { value: { ...config, spec }, diagnostics };
  },
);

const isMutual = ({ tls, portLevelSettings = [] }: TrafficPolicy): boolean =>
  [{ tls }, ...portLevelSettings].some((one) => one.tls?.mode === "ISTIO_MUTUAL");

function plainPolicy(policy: TrafficPolicy): TrafficPolicy {
  const { portLevelSettings } = policy;
  return {
    ...plainTls(policy),
    ...(portLevelSettings === undefined ? {} : { portLevelSettings: portLevelSettings.map(plainTls) }),
  };
}

const plainTls = <T extends Pick<TrafficPolicy, "tls">>(policy: T): T =>
  policy.tls?.mode === "ISTIO_MUTUAL" ? { ...policy, tls: { mode: "DISABLE" } } : policy;

const plainGateway = query(
  "gateway without certificates",
  ({ config }: { readonly config: Config<Gateway> }): Stage<Config<Gateway>> => {
    const servers = config.spec.servers.filter(({ tls }) => tls?.mode !== "ISTIO_MUTUAL");
    if (servers.length === config.spec.servers.length) return { value: config, diagnostics: [] };
    const diagnostics = [lost(config, "its servers with ISTIO_MUTUAL are left out")];
    return { value: { ...config, spec: { ...config.spec, servers } }, diagnostics };
  },
);

const everywhere: Diagnostic = {
  code: "without-certificates",
  severity: "info",
  origin: fileOrigin("(settings)"),
  path: [],
  message: "workloads speak plain text with one another: the mesh is compiled with --certificates none",
  hint: "`portolan dev --certificates sds` compiles it with certificates again",
};

function lost(config: Config, what: string): Diagnostic {
  return {
    code: "without-certificates",
    severity: "warning",
    origin: config.origin,
    path: ["spec"],
    message: `${what}, since the mesh is compiled with --certificates none`,
    hint: "for a mesh that others can reach give proxies certificates: --certificates sds (an agent) or files",
  };
}
