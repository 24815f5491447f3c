import type { Fields } from "../../base/untyped.ts";
import { type Installation, nameOf } from "./install-options.ts";
import { type Component, port, selectorOf } from "./pods.ts";

/** Everywhere, as a peer: a rule without peers would be one for all, too, and is never meant. */
const anyNamespace = { namespaceSelector: {} };
/** API servers run on the network of their hosts. */
const anyAddress = [{ ipBlock: { cidr: "0.0.0.0/0" } }, { ipBlock: { cidr: "::/0" } }];
const inNamespace = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });
/** Its own port, where the network plugin looks behind the Service's 443. */
const apiServer = { ports: [{ port: 6443 }] };

/** Who may connect to whom, and nothing else. Nodes reach their own pods in any case, so probes need no rule. */
export function networkObjects(of: Installation): readonly Fields[] {
  const { features, namespace } = of;
  const name = nameOf(of);
  const own = { "app.kubernetes.io/name": name };
  const policy = (part: string, matchLabels: Fields, rules: Fields): Fields => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: `${name}-${part}`, namespace },
    spec: { podSelector: { matchLabels }, ...rules },
  });
  const both = { policyTypes: ["Ingress", "Egress"] };
  const podsOf = (component: Component) => ({ podSelector: { matchLabels: selectorOf(of, component) } });
  // Metrics, in the namespace that Prometheus' charts use.
  const monitoring = { from: [inNamespace("monitoring")], ports: [port("health")] };
  return [
    // What no rule opens is closed both ways; other pods of the namespace are not selected.
    policy("nothing", own, both),
    policy("front", selectorOf(of, "front"), {
      ...both,
      ingress: [
        {
          from: [anyNamespace],
          ports: [port("http"), port("grpc"), ...(features.has("ca") ? [port("tls")] : [])],
        },
      ],
      egress: [{ to: [podsOf("compile")], ports: [port("webhook")] }, ...(features.has("ca") ? [apiServer] : [])],
    }),
    policy("compile", selectorOf(of, "compile"), {
      ...both,
      ingress: [{ from: [podsOf("front")], ports: [port("webhook")] }, monitoring],
      egress: [apiServer],
    }),
    ...(features.has("admission")
      ? [
          policy("admission", selectorOf(of, "admission"), {
            ...both,
            ingress: [{ from: anyAddress, ports: [port("https")] }, monitoring],
            egress: [apiServer],
          }),
        ]
      : []),
    policy("store", own, {
      policyTypes: ["Egress"],
      egress: [
        {
          to: [inNamespace("kube-system")],
          ports: [
            { protocol: "UDP", port: 53 },
            { protocol: "TCP", port: 53 },
          ],
        },
        { ports: [{ port: 443 }] },
      ],
    }),
  ];
}
