import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";

const read = (text: string, options = {}) => readFiles([{ file: "a.yaml", text }], options);
const said = (text: string, options = {}) =>
  read(text, options).diagnostics.map(
    ({ severity, origin, path, message, hint }) =>
      `${severity} ${origin.line} ${path.join(".")} ${message}${hint === "" ? "" : ` (${hint})`}`,
  );
const service = (spec: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: ${spec}\n`;
const pod = (rest: string) => `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n${rest}\n`;
const slice = (rest: string) =>
  `apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web}\n${rest}\n`;
const deployment = (spec: string) => `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: ${spec}\n`;

describe("an object of Kubernetes", () => {
  it.each([
    { text: service("{ports: [{port: 99999}]}"), want: "spec.ports.0.port 99999 is not between 1 and 65535" },
    { text: service("{ports: [{port: 80.5}]}"), want: "spec.ports.0.port 80.5 must be a whole number" },
    { text: service('{ports: [{port: "80"}]}'), want: 'spec.ports.0.port "80" must be a whole number' },
    { text: service("{ports: [{name: http}]}"), want: "spec.ports.0.port is required" },
    {
      text: service("{ports: [{port: 80, targetPort: 0}]}"),
      want: "spec.ports.0.targetPort 0 is not between 1 and 65535",
    },
    {
      text: service("{ports: [{port: 80, nodePort: 70000}]}"),
      want: "spec.ports.0.nodePort 70000 is not between 1 and 65535",
    },
    {
      text: service("{ports: [{port: 80, protocol: HTTP}]}"),
      want: 'spec.ports.0.protocol "HTTP" is none of TCP, UDP and SCTP',
    },
    { text: service("{ports: [{port: 80, name: Web}]}"), want: /^spec.ports.0.name "Web" is no name of a port/ },
    {
      text: service("{ports: [{port: 80, targetPort: a-name-that-is-too-long}]}"),
      want: /targetPort .* is no name of a container's port/,
    },
    {
      text: service("{ports: [{port: 80, name: http}, {port: 81, name: http}]}"),
      want: 'spec.ports.1.name "http" is the name of an earlier port (names are unique)',
    },
    {
      text: service("{ports: [{port: 80, name: a}, {port: 80, name: b}]}"),
      want: "spec.ports.1.port TCP 80 is the port of spec.ports[0]",
    },
    {
      text: service("{ports: [{port: 80, name: a}, {port: 81}]}"),
      want: "spec.ports.1.name is required (ports have names where there are several)",
    },
    { text: service("{type: Cluster}"), want: /^spec.type "Cluster" is none of ClusterIP/ },
    { text: service("{type: ExternalName}"), want: 'spec.externalName "" is no host name' },
    { text: service("{clusterIP: 10.0.0}"), want: 'spec.clusterIP "10.0.0" is no IP address' },
    { text: service("{selector: {app: 1}}"), want: "spec.selector.app 1 must be a text (put it between quotes)" },
    { text: service("{selector: [app]}"), want: "spec.selector a list must be an object" },
    { text: service("{portz: []}"), want: 'spec.portz unknown field "portz" (did you mean "ports"?)' },
    {
      text: pod("spec: {containers: [{name: a, ports: [{containerPort: 0}]}]}"),
      want: /containerPort 0 is not between/,
    },
    {
      text: pod("spec: {containers: [{name: a, ports: [{name: http}]}]}"),
      want: "spec.containers.0.ports.0.containerPort is required",
    },
    {
      text: pod("spec: {containers: [{name: a}, {name: a}]}"),
      want: 'spec.containers.1.name "a" is the name of an earlier container',
    },
    { text: pod("status: {podIP: web}"), want: 'status.podIP "web" is no IP address' },
    { text: pod("spec: {hostNetwork: yes}"), want: 'spec.hostNetwork "yes" must be true or false' },
    {
      text: slice("addressType: IPv4\nendpoints: [{addresses: [web]}]"),
      want: 'endpoints.0.addresses.0 "web" is no IPv4 address',
    },
    { text: slice("addressType: IPv4\nendpoints: [{}]"), want: "endpoints.0.addresses is required" },
    { text: slice("addressType: IPv4\nports: [{port: 65536}]"), want: /^ports.0.port 65536/ },
    { text: slice("addressType: ipv4"), want: /^addressType "ipv4" is none of/ },
    {
      text: "apiVersion: v1\nkind: Endpoints\nmetadata: {name: web}\nsubsets: [{addresses: [{ip: web}]}]",
      want: 'subsets.0.addresses.0.ip "web" is no IP address',
    },
    {
      text: deployment("{selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}}}"),
      want: /^spec.selector.matchLabels the template's labels are others/,
    },
    {
      text: deployment("{template: {metadata: {labels: {version: 1.10}}}}"),
      want: "spec.template.metadata.labels.version 1.1 must be a text (put it between quotes)",
    },
    { text: deployment("{replicas: two}"), want: 'spec.replicas "two" must be a whole number' },
    {
      text: "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web}\nspec: {strategy: {canary: {}}, template: {spec: {container: []}}}",
      want: /^spec.template.spec.container unknown field/,
    },
    {
      text: "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {rulez: []}",
      want: 'spec.rulez unknown field "rulez" (did you mean "rules"?)',
    },
    {
      text: "apiVersion: apps/v2\nkind: Deployment\nmetadata: {name: web}",
      want: /^apiVersion "v2" is no version of Deployment/,
    },
    {
      text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: 1}",
      want: "data.a 1 must be a text (put it between quotes)",
    },
  ])("is refused for $want", ({ text, want }) => {
    const [first = "", ...others] = said(text);
    expect(others).toEqual([]);
    const [severity, line, ...message] = first.split(" ");
    expect([severity, Number(line) > 0]).toEqual(["error", true]);
    expect(message.join(" ")).toMatch(
      typeof want === "string" ? new RegExp(`^${want.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`) : want,
    );
    expect([...read(text).objects, ...read(text).configs]).toEqual([]);
  });

  it.each([
    { what: "a field of null", text: service("{selector: null, ports: [{port: 80, nodePort: null}]}") },
    {
      what: "a quantity that is a number",
      text: pod("spec: {containers: [{name: a, resources: {limits: {cpu: 2, memory: 1Gi}}}]}"),
    },
    { what: "a port that is a name", text: service("{ports: [{port: 80, targetPort: http}]}") },
    {
      what: "TCP and UDP on one port",
      text: service("{ports: [{port: 53, name: a}, {port: 53, name: b, protocol: UDP}]}"),
    },
    { what: "an older version", text: "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: web}\nspec: {}" },
    {
      what: "a role with a system's name",
      text: "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'system:node'}",
    },
    {
      what: "a kind of Kubernetes that no mesh reads",
      text: "apiVersion: v1\nkind: LimitRange\nmetadata: {name: web}\nspec: {limits: []}",
    },
  ])("may have $what", ({ text }) => {
    expect(said(text)).toEqual([]);
    expect(read(text).objects).toHaveLength(1);
  });

  it("is said to be wrong on the line of the field", () => {
    const text =
      "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n    - name: http\n      port: 99999\n";
    expect(said(text)).toEqual(["error 8 spec.ports.0.port 99999 is not between 1 and 65535"]);
  });

  it("may have fields that are not known here when it comes from a newer cluster", () => {
    const text = service("{newInThatRelease: true}");
    expect(said(text, { unknownFields: "ignore" })).toEqual([
      expect.stringMatching(/^warning 4 spec.newInThatRelease/),
    ]);
    expect(read(text, { unknownFields: "ignore" }).objects).toHaveLength(1);
  });

  it("is as strictly read in a further cluster's file", () => {
    const { clusters, diagnostics } = readFiles([
      {
        file: "clusters/west.json",
        text: JSON.stringify({
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "web" },
          spec: { ports: [{ port: 99999 }] },
        }),
      },
    ]);
    expect(clusters).toEqual([{ id: "west", objects: [] }]);
    expect(diagnostics.map(({ path }) => path.join("."))).toEqual(["spec.ports.0.port"]);
  });
});
