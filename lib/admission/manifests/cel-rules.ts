/** A rule of `portolan validate` in CEL, for a ValidatingAdmissionPolicy. */
export interface CelRule {
  /** True for an object that is right. `object.spec` is there. */
  readonly expression: string;
  /** What is wrong with one that is not. */
  readonly message: string;
}

/** The rules of one kind. */
export interface CelKind {
  readonly group: string;
  readonly kind: string;
  readonly rules: readonly CelRule[];
}

const rule = (message: string, expression: string): CelRule => ({ expression, message });

/** A list of the spec, empty where it is absent. */
const list = (path: string): string => {
  const steps = path.split(".");
  const tests = steps.map((_, index) => `has(object.spec.${steps.slice(0, index + 1).join(".")})`);
  return `(${tests.join(" && ")} ? object.spec.${path} : [])`;
};

/** A list of an element, empty where it is absent. */
const listIn = (of: string, name: string): string => `(has(${of}.${name}) ? ${of}.${name} : [])`;

const isPort = (number: string): string => `${number} >= 1 && ${number} <= 65535`;

/** Selects workloads in one way only. */
const oneTarget = rule(
  "spec.selector and spec.targetRefs exclude each other",
  "!(has(object.spec.selector) && has(object.spec.targetRefs) && size(object.spec.targetRefs) > 0)",
);

/**
 * Those of the rules that look at one object, at fields that are there, and at no grammar of their own: CEL in an API server has neither
 * the mesh's settings nor parsers of hosts, durations, templates and Envoy's messages. Each is at least as permissive as `portolan validate`.
 */
export const celKinds: readonly CelKind[] = [
  {
    group: "networking.istio.io",
    kind: "VirtualService",
    rules: [
      rule(
        "a route of spec.http has both route and redirect",
        `${list("http")}.all(r, !(size(${listIn("r", "route")}) > 0 && has(r.redirect)))`,
      ),
      rule(
        "a weight in spec.http is negative",
        `${list("http")}.all(r, ${listIn("r", "route")}.all(d, !has(d.weight) || d.weight >= 0))`,
      ),
      rule(
        "a destination in spec.http has no host",
        `${list("http")}.all(r, ${listIn("r", "route")}.all(d, has(d.destination) && has(d.destination.host) && d.destination.host != ""))`,
      ),
      rule(
        "a fault in spec.http aborts with a status outside of 200 to 599",
        `${list("http")}.all(r, !has(r.fault) || !has(r.fault.abort) || !has(r.fault.abort.httpStatus) || (r.fault.abort.httpStatus >= 200 && r.fault.abort.httpStatus <= 599))`,
      ),
    ],
  },
  {
    group: "networking.istio.io",
    kind: "DestinationRule",
    rules: [
      rule("spec.host is missing", 'has(object.spec.host) && object.spec.host != ""'),
      rule("a subset has no name", `${list("subsets")}.all(s, has(s.name) && s.name != "")`),
    ],
  },
  {
    group: "networking.istio.io",
    kind: "Gateway",
    rules: [
      rule("spec.servers is empty", `size(${list("servers")}) > 0`),
      rule("a server has no hosts", `${list("servers")}.all(s, size(${listIn("s", "hosts")}) > 0)`),
      rule(
        "a server has no port from 1 to 65535",
        `${list("servers")}.all(s, has(s.port) && has(s.port.number) && ${isPort("s.port.number")})`,
      ),
      rule(
        "a server with protocol HTTPS or TLS has no tls",
        `${list("servers")}.all(s, !has(s.port) || !has(s.port.protocol) || !(s.port.protocol in ["HTTPS", "TLS"]) || has(s.tls))`,
      ),
    ],
  },
  {
    group: "networking.istio.io",
    kind: "ServiceEntry",
    rules: [
      rule("spec.hosts is empty", `size(${list("hosts")}) > 0`),
      rule('spec.hosts has the host "*"', `!("*" in ${list("hosts")})`),
      rule("a port is outside of 1 to 65535", `${list("ports")}.all(p, has(p.number) && ${isPort("p.number")})`),
      rule(
        "two ports have one name",
        `${list("ports")}.all(p, !has(p.name) || size(${list("ports")}.filter(q, has(q.name) && q.name == p.name)) == 1)`,
      ),
      rule(
        "spec.endpoints and spec.workloadSelector exclude each other",
        `!(has(object.spec.workloadSelector) && size(${list("endpoints")}) > 0)`,
      ),
    ],
  },
  {
    group: "networking.istio.io",
    kind: "WorkloadEntry",
    rules: [
      rule(
        "spec.address and spec.network are both missing",
        '(has(object.spec.address) && object.spec.address != "") || (has(object.spec.network) && object.spec.network != "")',
      ),
    ],
  },
  {
    group: "networking.istio.io",
    kind: "Sidecar",
    rules: [
      rule("an element of spec.egress has no hosts", `${list("egress")}.all(e, size(${listIn("e", "hosts")}) > 0)`),
      rule(
        "a host of spec.egress is not NAMESPACE/HOST",
        `${list("egress")}.all(e, ${listIn("e", "hosts")}.all(h, size(h.split("/")) == 2))`,
      ),
    ],
  },
  {
    group: "security.istio.io",
    kind: "AuthorizationPolicy",
    rules: [
      oneTarget,
      rule(
        "spec.action is CUSTOM without spec.provider.name",
        '!has(object.spec.action) || object.spec.action != "CUSTOM" || (has(object.spec.provider) && has(object.spec.provider.name) && object.spec.provider.name != "")',
      ),
      rule(
        "spec.provider is only for action CUSTOM",
        '!has(object.spec.provider) || (has(object.spec.action) && object.spec.action == "CUSTOM")',
      ),
      rule("an element of from has no source", `${list("rules")}.all(r, ${listIn("r", "from")}.all(f, has(f.source)))`),
      rule(
        "an element of to has no operation",
        `${list("rules")}.all(r, ${listIn("r", "to")}.all(t, has(t.operation)))`,
      ),
      rule(
        "a condition has no key",
        `${list("rules")}.all(r, ${listIn("r", "when")}.all(w, has(w.key) && w.key != ""))`,
      ),
    ],
  },
  {
    group: "security.istio.io",
    kind: "PeerAuthentication",
    rules: [
      rule(
        "spec.portLevelMtls needs a selector with labels",
        "!has(object.spec.portLevelMtls) || size(object.spec.portLevelMtls) == 0 || (has(object.spec.selector) && has(object.spec.selector.matchLabels) && size(object.spec.selector.matchLabels) > 0)",
      ),
    ],
  },
  {
    group: "security.istio.io",
    kind: "RequestAuthentication",
    rules: [oneTarget],
  },
  {
    group: "extensions.istio.io",
    kind: "WasmPlugin",
    rules: [rule("spec.url is missing", 'has(object.spec.url) && object.spec.url != ""')],
  },
];
