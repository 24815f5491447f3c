const times = <T>(count: number, of: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => of(at));

/** A sidecar at an address. */
export const shop = (address: string) => ({
  file: "shop.yaml",
  text: `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {security.istio.io/tlsMode: istio}}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: ${address}}
`,
});

/** Within the limits of one object, and more than a small heap holds. */
export const large = {
  file: "large.yaml",
  text: JSON.stringify({
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "large", namespace: "evil" },
    spec: {
      hosts: times(256, (at) => `e${at}.example`),
      ports: times(64, (at) => ({ number: 1_000 + at, name: `http${at}`, protocol: "HTTP" })),
      endpoints: times(16, (at) => ({ address: `10.0.0.${at}` })),
      resolution: "STATIC",
    },
  }),
};
