const pod = (name: string, address: string, args: string) => `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { app: ${name} } }
spec: { containers: [{ name: istio-proxy, image: example.invalid/proxy:1, args: [${args}] }] }
status: { phase: Running, podIP: ${address}, podIPs: [{ ip: ${address} }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { selector: { app: ${name} }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
`;
/** A gateway and a sidecar in one namespace. */
export const edgeAndWeb = [
  pod("edge", "10.1.0.2", "proxy, router"),
  pod("web", "10.1.0.3", "proxy, sidecar"),
  `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec: { selector: { app: edge }, servers: [{ port: { number: 8080, name: http, protocol: HTTP }, hosts: ["*"] }] }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: web, namespace: shop }
spec: { hosts: ["*"], gateways: [edge], http: [{ route: [{ destination: { host: web } }] }] }
`,
].join("---\n");

/** A filter of Lua whose value is none. @param context of its patch */
export const luaFilter = (context: string) => `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: guard, namespace: shop }
spec:
  configPatches:
    - applyTo: HTTP_FILTER
      match: { context: ${context} }
      patch:
        operation: INSERT_FIRST
        value:
          name: guard
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
            default_source_code: 5
`;
