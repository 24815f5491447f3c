import { byCodePoint } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { MutualTLS, PeerAuthentication } from "../../config/kinds/peer-authentication.ts";
import { isSubset, type Labels } from "../../config/values/labels.ts";
import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { type RegistryState, serviceKey } from "../../registry/changes/registry-state.ts";
import type { Endpoint, Service, ServicePort } from "../../registry/service.ts";
import { groupBy } from "../group-by.ts";
import type { PeerAuthenticationIndex } from "../index/peer-authentication.ts";
import type { ServedWorkload } from "../index/policy-attachment.ts";
import type { MutualTlsMode } from "../views/views.ts";
import { type AuthenticationIndex, mutualTlsMode } from "./authentication-index.ts";
import { convertedConfig } from "./converted-config.ts";
import { servedPorts } from "./served-port.ts";

/**
 * Mutual TLS by the newer kind where one of its objects applies to a workload, else by the authentication policies of the
 * services that the workload backs, as in Istio 1.5. Servers know their ports; clients go by the ports of endpoints.
 *
 * @see istio 1.5.10 pilot/pkg/security/authn/v1beta1/policy_applier.go
 */
export function withLegacyPeers(
  newer: PeerAuthenticationIndex,
  authentication: AuthenticationIndex | undefined,
  services: readonly Service[],
  endpoints: RegistryState["endpoints"],
  memo: Memo,
): PeerAuthenticationIndex {
  if (authentication === undefined) return newer;
  const governed = services.filter(({ attributes }) => authentication.targetsIn(attributes.namespace).size > 0);
  const ports = governed.map((service) => {
    const known = endpoints.get(serviceKey(service));
    return known === undefined ? noPorts : targetPorts(memo, { endpoints: known });
  });
  return joinedIndex(memo, { newer, authentication, governed, ports });
}

/** Workload ports behind the ports of a service: name and numbers, sorted; the same object for the same ports. */
type TargetPorts = readonly (readonly [string, readonly number[]])[];

const noPorts: TargetPorts = [];

const targetPorts = query(
  "target ports of a service",
  ({ endpoints }: { readonly endpoints: readonly Endpoint[] }, memo: Memo): TargetPorts => {
    const grouped = groupBy(endpoints, ({ servicePortName }) => servicePortName);
    const sorted = [...grouped]
      .map(([name, list]) => [name, [...new Set(list.map(({ port }) => port))].sort((a, b) => a - b)] as const)
      .sort(([a], [b]) => byCodePoint(a, b));
    return internValue(memo, sorted);
  },
);

interface JoinInputs {
  readonly newer: PeerAuthenticationIndex;
  readonly authentication: AuthenticationIndex;
  /** Services of namespaces with policies for targets, and the workload ports of each. */
  readonly governed: readonly Service[];
  readonly ports: readonly TargetPorts[];
}

const joinedIndex = query(
  "legacy and newer peer authentication",
  { governed: "elements", ports: "elements" },
  (inputs: JoinInputs, memo: Memo) => joined(inputs, memo),
);

/** A service on whose workload ports policies of a namespace with targets hold. */
interface Governed {
  readonly selector: Labels;
  readonly isTarget: boolean;
  /** The service's port that leads to a workload port. */
  portTo(number: number): ServicePort | undefined;
  modeOn(port: ServicePort): MutualTlsMode | undefined;
}

function joined({ newer, authentication, governed: services, ports }: JoinInputs, memo: Memo): PeerAuthenticationIndex {
  const modeOf = (policy: ReturnType<AuthenticationIndex["policyFor"]>): MutualTlsMode | undefined =>
    policy === undefined ? undefined : mutualTlsMode(policy);
  const generalMode = (namespace: string): MutualTlsMode | undefined =>
    modeOf(authentication.namespacePolicy(namespace) ?? authentication.meshPolicy);
  const governed = groupBy(
    services.flatMap((service, at): readonly (Governed & { readonly namespace: string })[] => {
      const byName = new Map(ports[at]);
      const { selector, namespace } = service.attributes;
      if (selector === undefined) return [];
      const named = { hostname: service.hostname, namespace };
      return [
        {
          namespace,
          selector,
          isTarget: authentication.targetsIn(namespace).has(service.hostname),
          portTo: (number) => service.ports.find(({ name }) => byName.get(name)?.includes(number) === true),
          modeOn: (port) => modeOf(authentication.policyFor(named, port)),
        },
      ];
    }),
    ({ namespace }) => namespace,
  );
  const isNewer = (namespace: string, labels: Labels): boolean =>
    newer.namespaceMode(namespace) !== undefined || newer.workloadPolicy(namespace, labels) !== undefined;
  return {
    namespaceMode: (namespace) => newer.namespaceMode(namespace) ?? generalMode(namespace),
    serviceMode: (service, port) =>
      newer.serviceMode(service, port) ??
      modeOf(authentication.policyFor({ hostname: service.hostname, namespace: service.attributes.namespace }, port)),
    workloadPolicy: newer.workloadPolicy,
    workloadMode: (namespace, labels, number) => {
      if (isNewer(namespace, labels)) return newer.workloadMode(namespace, labels, number);
      const leads = ({ selector, portTo }: Governed) => portTo(number) !== undefined && isSubset(selector, labels);
      const there = governed.get(namespace) ?? [];
      // Only where a target leads to the port does it matter which service leads first.
      const leader = there.some((one) => one.isTarget && leads(one)) ? there.find(leads) : undefined;
      const port = leader?.portTo(number);
      const own = port === undefined ? undefined : leader?.modeOn(port);
      return own ?? generalMode(namespace) ?? "PERMISSIVE";
    },
    servedModes: (workload) => {
      const { namespace, labels } = workload;
      if (isNewer(namespace, labels)) return newer.servedModes(workload);
      const general = generalMode(namespace);
      const policy = portPolicy(workload, authentication, general, memo);
      return { policy, general };
    },
  };
}

/** A PeerAuthentication for the ports of a workload where another mode holds than in its namespace. */
function portPolicy(
  workload: ServedWorkload,
  authentication: AuthenticationIndex,
  general: MutualTlsMode | undefined,
  memo: Memo,
): Config<PeerAuthentication> | undefined {
  const own = servedPorts(workload).flatMap(({ service, servicePort, number }) => {
    const policy = authentication.policyFor(service, servicePort);
    const mode = policy === undefined ? undefined : mutualTlsMode(policy);
    return policy === undefined || mode === undefined || mode === general ? [] : [{ policy, mode, number }];
  });
  const [first] = own;
  if (first === undefined) return undefined;
  const { policy } = first;
  // The name says all that is in it, so that classes which differ in it differ in its name.
  const name = `authentication-policy-${own.map(({ number, mode }) => `${number}-${mode}`).join("-")}`;
  const modes = own.map(({ number, mode }): [string, MutualTLS] => [String(number), { mode }]);
  const { namespace } = workload;
  return convertedPortPolicy(memo, { policy, name, namespace, modes });
}

interface PortPolicyInputs {
  readonly policy: Config;
  readonly name: string;
  readonly namespace: string;
  /** By port. */
  readonly modes: readonly (readonly [string, MutualTLS])[];
}

const convertedPortPolicy = query(
  "converted port policy",
  { modes: "value" },
  ({ policy, name, namespace, modes }: PortPolicyInputs): Config<PeerAuthentication> =>
    convertedConfig(policy, {
      kind: "PeerAuthentication",
      name,
      namespace,
      spec: { portLevelMtls: Object.fromEntries(modes) },
    }),
);
