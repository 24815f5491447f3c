/** What publishers publish: small, never the same twice, and with clusters that come and go, so that steps are taken. */

/** Short, so that many steps are under way while things break. */
export const pace = { settleMs: 150, retentionMs: 150 };

/** How long a publisher rests at most between two publishes: without a rest three of them leave the acts no time on two cores. */
export const restMs = 400;

export const textOf = (source: string, number: number): string => `apiVersion: v1
kind: Service
metadata: { name: ${source}, namespace: shop }
spec: { clusterIP: 10.0.0.${source.length}, ports: [{ name: http, port: 80 }, { name: http-more, port: ${8000 + (number % 4)} }] }
---
apiVersion: v1
kind: Pod
metadata: { name: ${source}, namespace: shop, labels: { app: ${source}, security.istio.io/tlsMode: istio } }
spec: { serviceAccountName: ${source}, containers: [{ name: app }] }
status: { podIP: 10.1.0.${source.length} }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: ${source}, namespace: shop }
spec:
  host: ${source}.shop.svc.cluster.local
  trafficPolicy: { connectionPool: { tcp: { maxConnections: ${number + 1} } } }
`;

/** The number that a text was made of. */
export const numberOf = (text: string): number => Number(/maxConnections: (\d+)/.exec(text)?.[1]) - 1;
