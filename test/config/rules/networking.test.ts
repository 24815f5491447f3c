import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { findingsOf } from "./findings-of.ts";

const route = "route: [{destination: {host: b}}]";
const http = (rest: string) => `{hosts: [a], http: [{${rest}}]}`;
const matched = (match: string) => http(`match: [{${match}}], ${route}`);

describe("VirtualService", () => {
  it.each([
    ["{hosts: [a]}", "error spec: has no routes"],
    [`{gateways: [g], http: [{${route}}]}`, "error spec.gateways: a VirtualService without hosts"],
    [`{hosts: [a], gateways: [ns/g/x], http: [{${route}}]}`, "error spec.gateways.0: "],
    [`{hosts: [a.b], gateways: [g.ns.svc.cluster.local], http: [{${route}}]}`, "warning spec.gateways.0: "],
    [`{hosts: ["*"], http: [{${route}}]}`, 'error spec.hosts.0: host "*" is not allowed for the mesh'],
    [`{hosts: ["a_b"], http: [{${route}}]}`, "error spec.hosts.0: "],
    [`{hosts: ["*.b.c", x.b.c], http: [{${route}}]}`, 'error spec.hosts.1: "x.b.c" overlaps'],
    [`{hosts: [a], exportTo: ["*", ns], http: [{${route}}]}`, 'error spec.exportTo: "*" leaves no room'],
    [`{hosts: [a], exportTo: [".", default], http: [{${route}}]}`, "error spec.exportTo.1: "],
    [`{hosts: [a], exportTo: ["~"], http: [{${route}}]}`, "error spec.exportTo.0: "],
    [http("timeout: 5s"), "error spec.http.0: has no action"],
    [http(`delegate: {name: d}, ${route}`), "error spec.http.0.route: route and delegate exclude each other"],
    ["{http: [{delegate: {name: d}}]}", "error spec.http.0.delegate: a delegate cannot delegate"],
    [http(`redirect: {uri: /x}, ${route}`), "error spec.http.0.route: route and redirect exclude"],
    [http("redirect: {uri: /x}, directResponse: {status: 200}"), "error spec.http.0.directResponse: "],
    [http(`directResponse: {status: 200}, ${route}`), "error spec.http.0.route: "],
    [http("directResponse: {status: 100}"), "error spec.http.0.directResponse.status: "],
    [http("redirect: {}"), "error spec.http.0.redirect: changes nothing"],
    [http("redirect: {redirectCode: 302}"), "error spec.http.0.redirect: changes nothing"],
    [http("redirect: {uri: /x, redirectCode: 200}"), "error spec.http.0.redirect.redirectCode: "],
    [http("redirect: {scheme: ftp}"), "error spec.http.0.redirect.scheme: "],
    [
      http("redirect: {uri: /x, port: 80, derivePort: FROM_REQUEST_PORT}"),
      "error spec.http.0.redirect: port and derivePort",
    ],
    [http(`rewrite: {}, ${route}`), "error spec.http.0.rewrite: changes nothing"],
    [
      http(`rewrite: {uri: /x, uriRegexRewrite: {match: a, rewrite: b}}, ${route}`),
      "error spec.http.0.rewrite: uri and uriRegexRewrite",
    ],
    [http(`rewrite: {uriRegexRewrite: {match: a}}, ${route}`), "error spec.http.0.rewrite.uriRegexRewrite: needs both"],
    [http(`mirror: {host: c}, mirrors: [{destination: {host: d}}], ${route}`), "error spec.http.0.mirrors: "],
    [http(`mirror: {host: c}, mirrorPercent: 5, ${route}`), "warning spec.http.0.mirrorPercent: is deprecated"],
    [http(`mirror: {host: c}, mirrorPercentage: {value: 101}, ${route}`), "error spec.http.0.mirrorPercentage.value: "],
    [matched("headers: {x: {prefix: ''}}"), "error spec.http.0.match.0.headers.x.prefix: must not be empty"],
    [matched("headers: {'a b': {exact: x}}"), "error spec.http.0.match.0.headers.a b: "],
    [
      matched("headers: {'@request.auth.claims.a': {exact: x}}"),
      "error spec.http.0.match.0.headers.@request.auth.claims.a: claims",
    ],
    [matched("uri: {regex: '(?<!a)b'}"), "error spec.http.0.match.0.uri.regex: "],
    [matched("uri: {exact: /a, prefix: /b}"), "error spec.http.0.match.0.uri: only one of"],
    [matched("method: {regex: '('}"), "error spec.http.0.match.0.method.regex: "],
    [matched("port: 70000"), "error spec.http.0.match.0.port: port 70000"],
    [matched("sourceNamespace: 'a b'"), "error spec.http.0.match.0.sourceNamespace: "],
    [matched("sourceLabels: {'a b': c}"), "error spec.http.0.match.0.sourceLabels.a b: "],
    [http(`headers: {request: {set: {':path': /x}}}, ${route}`), "error spec.http.0.headers.request.set.:path: "],
    [http(`headers: {response: {set: {host: x}}}, ${route}`), "error spec.http.0.headers.response.set.host: "],
    [http(`headers: {request: {add: {x: '%'}}}, ${route}`), "error spec.http.0.headers.request.add.x: "],
    [
      http(`rewrite: {authority: x}, headers: {request: {set: {host: y}}}, ${route}`),
      "error spec.http.0: the authority is set more than once",
    ],
    [http(`corsPolicy: {allowMethods: [FETCH]}, ${route}`), "error spec.http.0.corsPolicy.allowMethods.0: "],
    [http(`corsPolicy: {maxAge: 1.5s}, ${route}`), "error spec.http.0.corsPolicy.maxAge: "],
    [http(`corsPolicy: {allowOrigins: [{exact: ''}]}, ${route}`), "error spec.http.0.corsPolicy.allowOrigins.0: "],
    [http(`fault: {}, ${route}`), "error spec.http.0.fault: needs a delay or an abort"],
    [http(`fault: {abort: {percentage: {value: 5}}}, ${route}`), "warning spec.http.0.fault.abort: has no status"],
    [http(`fault: {abort: {grpcStatus: NOPE}}, ${route}`), "error spec.http.0.fault.abort.grpcStatus: "],
    [http(`fault: {abort: {httpStatus: 900}}, ${route}`), "error spec.http.0.fault.abort.httpStatus: "],
    [http(`fault: {delay: {exponentialDelay: 1s}}, ${route}`), "error spec.http.0.fault.delay.exponentialDelay: "],
    [
      http(`fault: {delay: {fixedDelay: 1s, percentage: {value: 0.00001}}}, ${route}`),
      "error spec.http.0.fault.delay.percentage.value: ",
    ],
    [
      http(`retries: {perTryTimeout: 1s}, ${route}`),
      "error spec.http.0.retries.perTryTimeout: has no meaning with 0 attempts",
    ],
    [
      http(`retries: {attempts: 2, retryOn: '5xx, reset'}, ${route}`),
      'error spec.http.0.retries.retryOn: " reset" is neither',
    ],
    [http(`retries: {attempts: -1}, ${route}`), "error spec.http.0.retries.attempts: "],
    [http("route: [{destination: {host: '*'}}]"), "error spec.http.0.route.0.destination.host: "],
    [http("route: [{destination: {host: a, subset: 'x y'}}]"), "error spec.http.0.route.0.destination.subset: "],
    [
      http("route: [{destination: {host: a, port: {number: 0}}}]"),
      "error spec.http.0.route.0.destination.port.number: ",
    ],
    [http("route: [{destination: {host: a}}, {destination: {host: b}}]"), "error spec.http.0.route: all weights are 0"],
    [http("route: [{destination: {host: a}, weight: -1}]"), "error spec.http.0.route.0.weight: "],
    [`{hosts: [a.b], tls: [{${route}}]}`, "error spec.tls.0.match: a TLS route needs a match"],
    ["{hosts: [a.b], tls: [{match: [{sniHosts: [a.b]}]}]}", "error spec.tls.0.route: a TLS route needs a destination"],
    [`{hosts: [a.b], tls: [{match: [{sniHosts: [x.y]}], ${route}}]}`, "error spec.tls.0.match.0.sniHosts.0: "],
    [`{hosts: [a.b], tls: [{match: [{sniHosts: [10.0.0.1]}], ${route}}]}`, "warning spec.tls.0.match.0.sniHosts.0: "],
    ["{hosts: [a.b], tcp: [{}]}", "error spec.tcp.0.route: a TCP route needs a destination"],
    [
      `{hosts: [a.b], tcp: [{match: [{destinationSubnets: [x]}], ${route}}]}`,
      "error spec.tcp.0.match.0.destinationSubnets.0: ",
    ],
    [
      `{hosts: [a], http: [{${route}}, {match: [{uri: {prefix: /a}}], ${route}}]}`,
      "warning spec.http.1: is never used",
    ],
    [
      `{hosts: [a], http: [{match: [{uri: {prefix: /a}}], ${route}}, {match: [{uri: {prefix: /a}}], ${route}}]}`,
      "warning spec.http.1.match.0: has no effect",
    ],
    [
      `{hosts: [a], http: [{match: [{uri: {prefix: /a}}], ${route}}, {match: [{uri: {prefix: /a/b}}], ${route}}]}`,
      "warning spec.http.1.match.0: has no effect",
    ],
  ])("%s gives %s", (spec, want) => {
    expect(findingsOf("VirtualService", spec)).toContainEqual(expect.stringContaining(want));
  });

  it.each([
    [`{hosts: [a, b.c, "*.d.e", 10.0.0.1], gateways: [mesh, ns/g, ./g], http: [{${route}}]}`],
    [`{hosts: ["*"], gateways: [g], http: [{${route}}]}`],
    [`{hosts: [a], gateways: [g], http: [{match: [{headers: {'@request.auth.claims[a][b]': {exact: x}}}], ${route}}]}`],
    [http(`headers: {request: {set: {x: '%START_TIME(%Y)% 100%%', host: y}, remove: [z]}}, ${route}`)],
    [http(`retries: {attempts: 3, retryOn: 'gateway-error,503'}, ${route}`)],
    [http(`retries: {attempts: 0}, ${route}`)],
    [http("route: [{destination: {host: a}, weight: 30}, {destination: {host: b}, weight: 50}]")],
    [matched("uri: {prefix: ''}")],
    [matched("withoutHeaders: {x: {regex: '*'}}")],
  ])("%s is right", (spec) => {
    expect(findingsOf("VirtualService", spec)).toEqual([]);
  });
});

const policy = (rest: string) => `{host: a, trafficPolicy: {${rest}}}`;

describe("DestinationRule", () => {
  it.each([
    ["{}", "error spec.host: is required"],
    ["{host: 'a b'}", "error spec.host: "],
    [policy(""), "error spec.trafficPolicy: is empty"],
    [
      policy("tunnel: {targetHost: a, targetPort: 1}, proxyProtocol: {}"),
      "error spec.trafficPolicy: tunnel and proxyProtocol",
    ],
    [policy("tunnel: {protocol: GET, targetHost: a, targetPort: 1}"), "error spec.trafficPolicy.tunnel.protocol: "],
    [
      policy("portLevelSettings: [{port: {number: 80}}]"),
      "error spec.trafficPolicy.portLevelSettings.0: sets nothing for its port",
    ],
    [policy("portLevelSettings: [{port: {}, tls: {}}]"), "error spec.trafficPolicy.portLevelSettings.0.port.number: "],
    ["{host: a, subsets: [{name: v1}, {name: v1}]}", "error spec.subsets.1.name: "],
    ["{host: a, subsets: [{name: 'v 1'}]}", "error spec.subsets.0.name: "],
    ["{host: a, exportTo: [x], workloadSelector: {matchLabels: {a: b}}}", "error spec.exportTo: "],
    ["{host: a, workloadSelector: {}}", "warning spec.workloadSelector: "],
    ["{host: a, workloadSelector: {matchLabels: {a: '*'}}}", "error spec.workloadSelector.matchLabels.a: "],
    [policy("connectionPool: {}"), "error spec.trafficPolicy.connectionPool: needs tcp or http"],
    [
      policy("connectionPool: {tcp: {maxConnections: -1}}"),
      "error spec.trafficPolicy.connectionPool.tcp.maxConnections: ",
    ],
    [
      policy("connectionPool: {http: {h2UpgradePolicy: UPGRADE, useClientProtocol: true}}"),
      "error spec.trafficPolicy.connectionPool.http.useClientProtocol: ",
    ],
    [
      policy("connectionPool: {http: {http2KeepAlive: {interval: 1s}}}"),
      "error spec.trafficPolicy.connectionPool.http.http2KeepAlive.timeout: ",
    ],
    [
      policy("outlierDetection: {consecutiveErrors: 5}"),
      "warning spec.trafficPolicy.outlierDetection.consecutiveErrors: ",
    ],
    [
      policy("outlierDetection: {consecutiveLocalOriginFailures: 5}"),
      "error spec.trafficPolicy.outlierDetection.consecutiveLocalOriginFailures: ",
    ],
    [
      policy("outlierDetection: {maxEjectionPercent: 101}"),
      "error spec.trafficPolicy.outlierDetection.maxEjectionPercent: ",
    ],
    [
      policy("outlierDetection: {outlierDetectionHttpErrorCodes: [429, 600]}"),
      "error spec.trafficPolicy.outlierDetection.outlierDetectionHttpErrorCodes.1: 600 is not between",
    ],
    [
      policy("outlierDetection: {failurePercentageThreshold: 101}"),
      "error spec.trafficPolicy.outlierDetection.failurePercentageThreshold: ",
    ],
    [
      policy("loadBalancer: {simple: RANDOM, backendUtilization: {}}"),
      "error spec.trafficPolicy.loadBalancer: simple and backendUtilization",
    ],
    [
      policy("loadBalancer: {backendUtilization: {weightExpirationPeriod: -1s}}"),
      "error spec.trafficPolicy.loadBalancer.backendUtilization.weightExpirationPeriod: must not be negative",
    ],
    [
      policy("loadBalancer: {backendUtilization: {weightUpdatePeriod: 0.010s}}"),
      "warning spec.trafficPolicy.loadBalancer.backendUtilization.weightUpdatePeriod: 0.010s counts as 100ms",
    ],
    [
      policy("tls: {mode: SIMPLE, caCertCredentialName: c, caCertificates: /x}"),
      "error spec.trafficPolicy.tls: caCertCredentialName excludes caCertificates",
    ],
    [
      policy("tls: {mode: ISTIO_MUTUAL, caCertCredentialName: c}"),
      "error spec.trafficPolicy.tls.caCertCredentialName: has no meaning with ISTIO_MUTUAL",
    ],
    [
      policy("tls: {mode: SIMPLE, caCertCredentialName: c, insecureSkipVerify: true}"),
      "error spec.trafficPolicy.tls.caCertCredentialName: has no meaning with insecureSkipVerify",
    ],
    [
      policy("tls: {mode: SIMPLE, caCertCredentialName: 'configmap://other/x'}"),
      "error spec.trafficPolicy.tls.caCertCredentialName: ",
    ],
    [
      policy("loadBalancer: {simple: RANDOM, consistentHash: {useSourceIp: true}}"),
      "error spec.trafficPolicy.loadBalancer: simple and consistentHash",
    ],
    [
      policy("loadBalancer: {consistentHash: {httpCookie: {ttl: 1s}}}"),
      "error spec.trafficPolicy.loadBalancer.consistentHash.httpCookie.name: ",
    ],
    [
      policy("loadBalancer: {consistentHash: {useSourceIp: true, maglev: {tableSize: 100}}}"),
      "error spec.trafficPolicy.loadBalancer.consistentHash.maglev.tableSize: 100 is not a prime",
    ],
    [
      policy("loadBalancer: {consistentHash: {useSourceIp: true, maglev: {tableSize: 5000011}}}"),
      "is not below 5000011",
    ],
    [
      policy("loadBalancer: {consistentHash: {useSourceIp: true, minimumRingSize: 5, ringHash: {}}}"),
      "error spec.trafficPolicy.loadBalancer.consistentHash.minimumRingSize: ",
    ],
    [policy("loadBalancer: {localityLbSetting: {distribute: [{from: a, to: {a: 90}}]}}"), "the weights add up to 90"],
    [
      policy("loadBalancer: {localityLbSetting: {distribute: [{from: a, to: {a: 0, b: 100}}]}}"),
      "0 is not between 1 and 100",
    ],
    [
      policy(
        "loadBalancer: {localityLbSetting: {distribute: [{from: 'a/*', to: {a: 100}}, {from: a/b, to: {a: 100}}]}}",
      ),
      "overlaps with",
    ],
    [
      policy(
        "loadBalancer: {localityLbSetting: {distribute: [{from: a, to: {a: 100}}], failover: [{from: a, to: b}]}}",
      ),
      "distribute and failover exclude",
    ],
    [
      policy("loadBalancer: {localityLbSetting: {failover: [{from: a, to: a}]}}, outlierDetection: {interval: 1s}"),
      "from and to are both",
    ],
    [
      policy("loadBalancer: {localityLbSetting: {failoverPriority: [x]}}"),
      "warning spec.trafficPolicy.loadBalancer.localityLbSetting: failover without outlierDetection",
    ],
    [
      policy(
        "loadBalancer: {localityLbSetting: {failover: [{from: a, to: b}], failoverPriority: [topology.kubernetes.io/zone]}}",
      ),
      "clashes with failover",
    ],
    [
      policy("loadBalancer: {warmup: {duration: 1s, minimumPercent: 101}}"),
      "error spec.trafficPolicy.loadBalancer.warmup.minimumPercent: ",
    ],
    [policy("tls: {mode: MUTUAL}"), "error spec.trafficPolicy.tls.clientCertificate: is required for MUTUAL"],
    [
      policy("tls: {mode: SIMPLE, credentialName: c, caCertificates: /x}"),
      "error spec.trafficPolicy.tls: credentialName excludes caCertificates",
    ],
    [
      policy("tls: {mode: SIMPLE, insecureSkipVerify: true, subjectAltNames: [x]}"),
      "error spec.trafficPolicy.tls.subjectAltNames: ",
    ],
    [
      policy("tls: {mode: SIMPLE, credentialName: 'configmap://other/x'}"),
      "error spec.trafficPolicy.tls.credentialName: ",
    ],
  ])("%s gives %s", (spec, want) => {
    expect(findingsOf("DestinationRule", spec)).toContainEqual(expect.stringContaining(want));
  });
});

const server = (rest: string) => `{servers: [{${rest}}]}`;
const https = "port: {number: 443, name: s, protocol: HTTPS}, hosts: [a.b]";

describe("Gateway", () => {
  it.each([
    ["{}", "error spec.servers: needs at least one server"],
    [server("port: {number: 80, name: h, protocol: HTTP}"), "error spec.servers.0.hosts: "],
    [
      server("port: {number: 80, name: h, protocol: HTTP}, hosts: [short]"),
      'error spec.servers.0.hosts.0: "short" is a short name',
    ],
    [server('port: {number: 80, name: h, protocol: HTTP}, hosts: ["*x.com"]'), "error spec.servers.0.hosts.0: "],
    [server("port: {number: 80, name: h, protocol: HTTP}, hosts: [a/b/c.d]"), "error spec.servers.0.hosts.0: "],
    [server("port: {number: 80, name: h, protocol: FOO}, hosts: [a.b]"), "error spec.servers.0.port.protocol: "],
    [server("port: {number: 0, name: h, protocol: HTTP}, hosts: [a.b]"), "error spec.servers.0.port.number: "],
    [
      server("port: {number: 80, name: h, protocol: HTTP, targetPort: 81}, hosts: [a.b]"),
      "error spec.servers.0.port.targetPort: ",
    ],
    [server("port: {number: 80, protocol: HTTP}, hosts: [a.b]"), "error spec.servers.0.port.name: is required"],
    [server("port: {number: 80, name: h, protocol: HTTP}, hosts: [a.b], bind: nowhere"), "error spec.servers.0.bind: "],
    [server(https), "error spec.servers.0.tls: is required for HTTPS"],
    [
      server("port: {number: 80, name: h, protocol: HTTP}, hosts: [a.b], tls: {mode: SIMPLE, credentialName: c}"),
      "error spec.servers.0.tls: a server of protocol HTTP has no TLS",
    ],
    [
      server("port: {number: 80, name: t, protocol: TCP}, hosts: [a.b], tls: {mode: SIMPLE, credentialName: c}"),
      "error spec.servers.0.tls: ",
    ],
    [
      "{servers: [{port: {number: 80, name: h, protocol: HTTP}, hosts: [a.b]}, {port: {number: 81, name: h, protocol: HTTP}, hosts: [a.b]}]}",
      "error spec.servers.1.port.name: ",
    ],
    [server(`${https}, tls: {mode: SIMPLE}`), "error spec.servers.0.tls.serverCertificate: is required for SIMPLE"],
    [
      server(`${https}, tls: {mode: MUTUAL, serverCertificate: a, privateKey: b}`),
      "error spec.servers.0.tls.caCertificates: ",
    ],
    [server(`${https}, tls: {mode: ISTIO_MUTUAL, credentialName: c}`), "error spec.servers.0.tls.credentialName: "],
    [
      server(`${https}, tls: {mode: SIMPLE, credentialName: c, serverCertificate: a}`),
      "error spec.servers.0.tls: has more than one source",
    ],
    [
      server(`${https}, tls: {mode: PASSTHROUGH, credentialName: c}`),
      "warning spec.servers.0.tls.credentialName: is ignored",
    ],
    [
      server(`${https}, tls: {mode: SIMPLE, credentialName: c, minProtocolVersion: TLSV1_0}`),
      "warning spec.servers.0.tls.minProtocolVersion: ",
    ],
    [
      server(`${https}, tls: {mode: SIMPLE, credentialName: c, ecdhCurves: [P-256, P-1024]}`),
      'error spec.servers.0.tls.ecdhCurves.1: "P-1024" is no curve',
    ],
    [
      server(`${https}, tls: {mode: ISTIO_MUTUAL, ecdhCurves: [P-256]}`),
      "warning spec.servers.0.tls.ecdhCurves: has no effect with ISTIO_MUTUAL",
    ],
    [
      server(`${https}, tls: {mode: SIMPLE, credentialName: c, alpnProtocols: [h2, "a,b"]}`),
      'error spec.servers.0.tls.alpnProtocols.1: "a,b" is no name of a protocol',
    ],
    [
      server(`${https}, tls: {mode: SIMPLE, credentialName: c, cipherSuites: [FOO]}`),
      "warning spec.servers.0.tls.cipherSuites.0: ",
    ],
  ])("%s gives %s", (spec, want) => {
    expect(findingsOf("Gateway", spec)).toContainEqual(expect.stringContaining(want));
  });
});

const entry = (rest: string) => `{hosts: [a.b], ${rest}}`;
const port = "ports: [{number: 80, name: h, protocol: HTTP}]";

describe("ServiceEntry", () => {
  it.each([
    ["{}", "error spec.hosts: needs at least one host"],
    ['{hosts: ["*"]}', 'error spec.hosts.0: host "*" is not allowed'],
    ['{hosts: ["*x.b"]}', "warning spec.hosts.0: "],
    [entry("addresses: [x]"), "error spec.addresses.0: "],
    [
      entry(`addresses: [10.0.0.0/8], resolution: DNS, ${port}`),
      "error spec.addresses.0: a block cannot be resolved by DNS",
    ],
    [
      entry("workloadSelector: {labels: {a: b}}, endpoints: [], resolution: STATIC"),
      "error spec.endpoints: endpoints and workloadSelector exclude",
    ],
    [
      entry("ports: [{number: 80, name: h}, {number: 80, name: i}]"),
      "error spec.ports.1.number: port 80 is given twice",
    ],
    [entry("ports: [{number: 80, name: h}, {number: 81, name: h}]"), "error spec.ports.1.name: "],
    [entry("ports: [{number: 80, name: h, protocol: FOO}]"), "error spec.ports.0.protocol: "],
    [entry("ports: [{number: 80, name: h, targetPort: 70000}]"), "error spec.ports.0.targetPort: "],
    [entry("ports: [{number: 9, name: t, protocol: TCP}]"), "warning spec.ports.0: TCP port 9 has no address"],
    [entry("endpoints: [{address: 1.2.3.4}]"), "error spec.endpoints: resolution NONE uses no endpoints"],
    [entry(`${port}, resolution: STATIC, endpoints: [{address: x.y}]`), "error spec.endpoints.0.address: "],
    [
      entry(`${port}, resolution: STATIC, endpoints: [{address: 1.2.3.4, ports: {other: 1}}]`),
      "error spec.endpoints.0.ports.other: ",
    ],
    ['{hosts: ["*.b.c"], resolution: DNS}', 'error spec.hosts.0: "*.b.c" cannot be resolved'],
    [
      '{hosts: ["*.b.c"], resolution: DNS, workloadSelector: {labels: {a: b}}}',
      'error spec.hosts.0: "*.b.c" cannot be resolved',
    ],
    [
      entry('resolution: DNS, endpoints: [{address: "unix:///a"}]'),
      "error spec.endpoints.0.address: must be an IP address or a domain name",
    ],
    [
      entry("resolution: DNS, endpoints: [{network: n}]"),
      "error spec.endpoints.0.address: must be an IP address or a domain name",
    ],
    [
      entry("resolution: DNS_ROUND_ROBIN, endpoints: [{address: a.b}, {address: c.d}]"),
      "error spec.endpoints: DNS_ROUND_ROBIN takes one endpoint",
    ],
    [entry("resolution: DYNAMIC_DNS"), "error spec.hosts.0: "],
    [
      '{hosts: ["*.b"], resolution: DYNAMIC_DNS, ports: [{number: 9, name: t, protocol: TCP}]}',
      "error spec.ports.0.protocol: ",
    ],
    [
      "{hosts: [a.b, c.d], resolution: STATIC, ports: [{number: 9, name: t, protocol: TCP}]}",
      "error spec.hosts: several hosts can only be distinguished on HTTP or TLS ports",
    ],
    [entry("exportTo: ['~', x]"), 'error spec.exportTo: "~" leaves no room'],
  ])("%s gives %s", (spec, want) => {
    expect(findingsOf("ServiceEntry", spec)).toContainEqual(expect.stringContaining(want));
  });
});

describe("a ServiceEntry with a block of addresses that is to be resolved", () => {
  it.each([
    ["networking.istio.io/v1\nkind: ServiceEntry", "{hosts: [a.b], addresses: [10.0.0.0/8], resolution: DNS}", "error"],
    [
      "networking.istio.io/v1alpha3\nkind: ServiceEntry",
      "{hosts: [a.b], addresses: [10.0.0.0/8], resolution: DNS}",
      "error",
    ],
    ["networking.istio.io/v1alpha3\nkind: ExternalService", "{hosts: [10.0.0.0/8], discovery: DNS}", "warning"],
  ])("of %s is refused unless release 0.7 took it", (head, spec, severity) => {
    const { diagnostics } = readFiles([
      {
        file: "a.yaml",
        text: `apiVersion: ${head}\nmetadata: {name: a}\nspec: {endpoints: [{address: c.d}], ${spec.slice(1)}`,
      },
    ]);
    expect(diagnostics.map((one) => `${one.severity} ${one.path.join(".")}: ${one.message}`)).toContain(
      `${severity} spec.addresses.0: a block cannot be resolved by DNS`,
    );
  });
});

describe("two rules of a VirtualService with one match", () => {
  it.each([
    ["{name: prefix /v1, uri: {prefix: /v1}}", "{uri: {prefix: /v1}}"],
    ["{uri: {prefix: /v1}}", "{uri: {prefix: /v1}, name: other}"],
    ["{headers: {a: {exact: x}, b: {exact: y}}}", "{headers: {b: {exact: y}, a: {exact: x}}}"],
  ])("are one and the same whatever their names and order: %s, %s", (first, second) => {
    const spec = `{hosts: [a], http: [{match: [${first}], ${route}}, {match: [${second}], ${route}}]}`;
    expect(findingsOf("VirtualService", spec)).toEqual([
      "warning spec.http.1.match.0: has no effect: rule 0 before it has the same match",
      "warning spec.http.1: is never used: rules before it have all of its matches",
    ]);
  });
});

describe("a ServiceEntry with TCP ports and no addresses", () => {
  const tcp =
    "ports: [{number: 80, name: h, protocol: HTTP}, {number: 9, name: t, protocol: tcp}, {number: 8, name: u}]";
  const text = (status: string) =>
    `apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a}\nspec: {hosts: [a.b], resolution: DNS, ${tcp}}\n${status}`;
  const warned = (status = "") =>
    readFiles([{ file: "a.yaml", text: text(status) }]).diagnostics.map(({ severity, path }) => [
      severity,
      path.join("."),
    ]);

  it("is warned of each port, whoever may allocate addresses later", () => {
    expect(warned()).toEqual([
      ["warning", "spec.ports.1"],
      ["warning", "spec.ports.2"],
    ]);
  });

  it("is not warned of once addresses stand in its status", () => {
    expect(warned("status: {addresses: [{host: a.b, value: 240.240.0.1}]}\n")).toEqual([]);
  });
});

describe("Sidecar", () => {
  const egress = (rest: string) => `{egress: [{${rest}}]}`;
  it.each([
    ["{}", "error spec: is empty"],
    ["{ingress: [{port: {number: 80, protocol: HTTP, targetPort: 1}}]}", "error spec.ingress.0.port.targetPort: "],
    [
      "{ingress: [{port: {number: 80, protocol: HTTP}, defaultEndpoint: '10.1.1.1:80'}]}",
      "error spec.ingress.0.defaultEndpoint: ",
    ],
    [
      "{ingress: [{port: {number: 80, protocol: HTTP}}, {port: {number: 80, protocol: HTTP}}]}",
      "error spec.ingress.1.port.number: ",
    ],
    [
      "{ingress: [{port: {number: 80, protocol: HTTP}, tls: {mode: SIMPLE, serverCertificate: a, privateKey: b}}]}",
      "error spec.ingress.0.tls: needs a port of protocol HTTPS",
    ],
    [
      "{ingress: [{port: {number: 80, protocol: TCP}, connectionPool: {http: {maxRetries: 1}}}]}",
      "warning spec.ingress.0.connectionPool.http: ",
    ],
    [
      "{egress: [{hosts: ['./*']}, {port: {number: 80, protocol: HTTP, name: h}, hosts: ['./*']}]}",
      "error spec.egress.0: ",
    ],
    [egress("port: {number: 0}, hosts: ['./*']"), "error spec.egress.0.bind: "],
    [egress("hosts: []"), "error spec.egress.0.hosts: "],
    [egress("hosts: [a.b]"), "error spec.egress.0.hosts.0: "],
    [egress("hosts: [ns/short]"), "error spec.egress.0.hosts.0: "],
    [egress("hosts: ['*/*', ns/a.b]"), "warning spec.egress.0.hosts: "],
    [egress("hosts: [ns/a.b, ns/a.b]"), "warning spec.egress.0.hosts.1: "],
    [
      "{outboundTrafficPolicy: {mode: REGISTRY_ONLY, egressProxy: {host: a.b, port: {number: 1}}}}",
      "error spec.outboundTrafficPolicy.egressProxy: ",
    ],
    ["{outboundTrafficPolicy: {mode: ALLOW_ANY_DYNAMIC_DNS}}", "error spec.outboundTrafficPolicy.mode: "],
  ])("%s gives %s", (spec, want) => {
    expect(findingsOf("Sidecar", spec)).toContainEqual(expect.stringContaining(want));
  });
});

describe("EnvoyFilter", () => {
  const patch = (rest: string) => `{configPatches: [{${rest}}]}`;
  const add = "patch: {operation: MERGE, value: {a: 1}}";
  it.each([
    [patch("patch: {operation: ADD, value: {}}"), "error spec.configPatches.0.applyTo: is required"],
    [patch("applyTo: CLUSTER, patch: {value: {}}"), "error spec.configPatches.0.patch.operation: "],
    [patch("applyTo: CLUSTER, patch: {operation: ADD}"), "error spec.configPatches.0.patch.value: "],
    [
      patch(`applyTo: CLUSTER, match: {listener: {}}, ${add}`),
      "error spec.configPatches.0.match.listener: CLUSTER is matched by cluster",
    ],
    [
      patch(`applyTo: HTTP_FILTER, match: {context: WAYPOINT, routeConfiguration: {}, waypoint: {}}, ${add}`),
      "error spec.configPatches.0.match: routeConfiguration and waypoint exclude each other",
    ],
    [patch(`applyTo: LISTENER, match: {cluster: {}}, ${add}`), "error spec.configPatches.0.match.cluster: "],
    [
      patch(`applyTo: CLUSTER, match: {proxy: {proxyVersion: '('}}, ${add}`),
      "error spec.configPatches.0.match.proxy.proxyVersion: ",
    ],
    [
      patch(`applyTo: NETWORK_FILTER, match: {listener: {filterChain: {filter: {}}}}, ${add}`),
      "error spec.configPatches.0.match.listener.filterChain.filter.name: ",
    ],
    [
      patch(
        `applyTo: HTTP_FILTER, match: {listener: {filterChain: {filter: {name: x, subFilter: {name: y}}}}}, ${add}`,
      ),
      "error spec.configPatches.0.match.listener.filterChain.filter.subFilter: needs the filter",
    ],
    [
      patch(`applyTo: NETWORK_FILTER, match: {listener: {filterChain: {filter: {name: envoy.tcp_proxy}}}}, ${add}`),
      "warning spec.configPatches.0.match.listener.filterChain.filter.name: ",
    ],
    [patch(`applyTo: BOOTSTRAP, ${add}`), "warning spec.configPatches.0.applyTo: a proxy reads its bootstrap before"],
    ["{workloadSelector: {labels: {a: b}}, targetRefs: [{kind: Service, name: a}]}", "error spec.targetRefs: "],
  ])("%s gives %s", (spec, want) => {
    expect(findingsOf("EnvoyFilter", spec)).toContainEqual(expect.stringContaining(want));
  });
});

describe("WorkloadEntry, WorkloadGroup and ProxyConfig", () => {
  it.each([
    ["WorkloadEntry", "{}", "error spec.address: is required"],
    ["WorkloadEntry", "{network: n}", "warning spec.address: "],
    ["WorkloadEntry", "{address: 'a b'}", "error spec.address: "],
    ["WorkloadEntry", "{address: 'unix:///x/'}", "error spec.address: "],
    ["WorkloadEntry", "{address: 'unix:///x', ports: {h: 1}}", "error spec.ports: "],
    ["WorkloadEntry", "{address: 1.2.3.4, ports: {h: 0}}", "error spec.ports.h: "],
    ["WorkloadGroup", "{}", "error spec.template: is required"],
    [
      "WorkloadGroup",
      "{template: {}, probe: {periodSeconds: -1, exec: {command: [a]}}}",
      "error spec.probe.periodSeconds: ",
    ],
    ["WorkloadGroup", "{template: {}, probe: {}}", "error spec.probe: needs exactly one"],
    ["WorkloadGroup", "{template: {}, probe: {httpGet: {port: 80, scheme: FTP}}}", "error spec.probe.httpGet.scheme: "],
    ["ProxyConfig", "{concurrency: -1}", "error spec.concurrency: "],
    ["ProxyConfig", "{concurrency: 0}", "warning spec.concurrency: is about how a proxy is started"],
    ["ProxyConfig", "{environmentVariables: {A: b}}", "warning spec.environmentVariables.A: "],
    ["ProxyConfig", "{image: {imageType: debug}}", "warning spec.image: "],
  ])("%s %s gives %s", (kind, spec, want) => {
    expect(findingsOf(kind, spec)).toContainEqual(expect.stringContaining(want));
  });

  it("takes variables of a ProxyConfig that become metadata of nodes", () => {
    expect(findingsOf("ProxyConfig", "{environmentVariables: {ISTIO_META_A: b, ISTIO_METAJSON_B: '{}'}}")).toEqual([]);
  });
});
