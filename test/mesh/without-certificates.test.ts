import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import type { CertificateSource } from "../../lib/mesh/world.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";

const yaml = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec:
  clusterIP: 10.0.0.1
  selector: { app: web }
  ports: [{ name: http, port: 80, targetPort: 8080 }]
---
apiVersion: v1
kind: Pod
metadata: { name: web-1, namespace: shop, labels: { app: web, security.istio.io/tlsMode: istio } }
spec: { serviceAccountName: web, containers: [{ name: web, image: web }] }
status: { phase: Running, podIP: 10.1.0.1, podIPs: [{ ip: 10.1.0.1 }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: closed, namespace: shop }
spec: { mtls: { mode: PERMISSIVE }, selector: { matchLabels: { app: web } }, portLevelMtls: { "8080": { mode: STRICT } } }
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: open, namespace: shop }
spec: { mtls: { mode: PERMISSIVE } }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: web, namespace: shop }
spec:
  host: web.shop.svc.cluster.local
  trafficPolicy: { portLevelSettings: [{ port: { number: 80 }, tls: { mode: ISTIO_MUTUAL } }] }
  subsets: [{ name: v1, labels: { version: v1 }, trafficPolicy: { tls: { mode: ISTIO_MUTUAL } } }]
---
apiVersion: v1
kind: Pod
metadata: { name: gateway-1, namespace: shop, labels: { app: gateway, security.istio.io/tlsMode: istio } }
spec: { serviceAccountName: gateway, containers: [{ name: proxy, image: proxy }] }
status: { phase: Running, podIP: 10.1.0.2, podIPs: [{ ip: 10.1.0.2 }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: ways-in, namespace: shop }
spec:
  selector: { app: gateway }
  servers:
    - { port: { number: 15443, name: mesh, protocol: HTTPS }, hosts: ["*"], tls: { mode: ISTIO_MUTUAL } }
    - port: { number: 443, name: https, protocol: HTTPS }
      hosts: ["*"]
      tls: { mode: SIMPLE, serverCertificate: /etc/shop/tls.crt, privateKey: /etc/shop/tls.key }
`;

function compiledWith(certificates: CertificateSource) {
  const { value, diagnostics } = createFileCompiler({ ...defaultWorldOptions, certificates })(
    [{ file: "shop.yaml", text: yaml }],
    [],
  );
  const texts = value.classes.flatMap(({ poll }) =>
    resourcesIn([...poll.clusters, ...poll.listeners]).map(({ text }) => text),
  );
  return { text: texts.join("\n"), diagnostics };
}

describe("a mesh without certificates", () => {
  it("names neither an agent nor its secrets, and takes a server's own certificate from its file", () => {
    expect(compiledWith("sds").text).toContain('"clusterName":"sds-grpc"');
    const { text } = compiledWith("none");
    expect(text).not.toContain("sds-grpc");
    expect(text).not.toContain("ROOTCA");
    expect(text).not.toContain("/etc/certs");
    expect(text).toContain('"filename":"/etc/shop/tls.crt"');
  });

  it("says so once of the whole mesh, also where no object asks for more", () => {
    const empty = createFileCompiler({ ...defaultWorldOptions, certificates: "none" })(
      [{ file: "a.yaml", text: "" }],
      [],
    );
    expect(empty.diagnostics.map(({ code, severity, message }) => `${severity} ${code} ${message}`)).toEqual([
      "info without-certificates workloads speak plain text with one another: the mesh is compiled with --certificates none",
    ]);
  });

  it("warns at each object that asks for what only certificates can do", () => {
    const said = ({ diagnostics }: ReturnType<typeof compiledWith>) =>
      diagnostics
        .filter(({ code, severity }) => code === "without-certificates" && severity === "warning")
        .map(({ origin, message }) => `${origin.key.kind} ${origin.key.name}: ${message.split(",")[0]}`);
    expect(said(compiledWith("sds"))).toEqual([]);
    expect(said(compiledWith("none"))).toEqual([
      "PeerAuthentication closed: STRICT does not hold: its workloads take plain text",
      "DestinationRule web: ISTIO_MUTUAL counts as DISABLE: requests go out in plain text",
      "Gateway ways-in: its servers with ISTIO_MUTUAL are left out",
    ]);
  });
});
