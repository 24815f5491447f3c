import { describe, expect, it } from "vitest";
import { kubernetesPortProtocol, parseProtocol } from "../../lib/registry/protocol.ts";

describe("the protocol of a Kubernetes service port", () => {
  it.each([
    { name: "http", port: 8080, want: "HTTP" },
    { name: "HTTP", port: 8080, want: "HTTP" },
    { name: "http-web", port: 8080, want: "HTTP" },
    { name: "http2-x", port: 8080, want: "HTTP2" },
    { name: "grpc", port: 8080, want: "GRPC" },
    { name: "grpc-web", port: 8080, want: "GRPC-Web" },
    { name: "grpc-web-x", port: 8080, want: "GRPC-Web" },
    { name: "https-x", port: 8080, want: "HTTPS" },
    { name: "tls", port: 8080, want: "TLS" },
    { name: "tcp-db", port: 8080, want: "TCP" },
    { name: "mongo", port: 8080, want: "Mongo" },
    { name: "redis", port: 8080, want: "Redis" },
    { name: "mysql", port: 8080, want: "MySQL" },
    { name: "udp-dns", transport: "UDP", port: 8080, want: "UDP" },
    { name: "http", transport: "UDP", port: 8080, want: "UDP" },
    { name: "http", transport: "SCTP", port: 8080, want: "HTTP" },
    { name: "web", port: 8080, want: "Unsupported" },
    { name: "", port: 8080, want: "Unsupported" },
    { name: "web", appProtocol: "http", port: 8080, want: "HTTP" },
    { name: "http", appProtocol: "mine", port: 8080, want: "Unsupported" },
    { name: "web", appProtocol: "kubernetes.io/h2c", port: 80, want: "HTTP2" },
    { name: "web", appProtocol: "kubernetes.io/ws", port: 80, want: "HTTP" },
    { name: "web", appProtocol: "kubernetes.io/wss", port: 80, want: "HTTPS" },
    { name: "any", port: 25, want: "TCP" },
    { name: "", port: 53, want: "TCP" },
    { name: "any", port: 3306, want: "TCP" },
    { name: "any", port: 27017, want: "TCP" },
    { name: "http", port: 3306, want: "HTTP" },
  ])("is $want for '$name' ($appProtocol) on $transport port $port", ({ transport = "TCP", appProtocol, ...port }) => {
    expect(kubernetesPortProtocol({ transport, appProtocol, ...port })).toBe(port.want);
  });
});

describe("parseProtocol", () => {
  it.each([
    ["HTTP_PROXY", "HTTP_PROXY"],
    ["GRPC-WEB", "GRPC-Web"],
    ["Mongo", "Mongo"],
    ["", "Unsupported"],
    ["hbone", "Unsupported"],
  ])("reads '%s' as %s", (text, want) => {
    expect(parseProtocol(text)).toBe(want);
  });
});
