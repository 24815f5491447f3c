import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { ProxyConfigResource } from "../../kinds/proxy-config.ts";
import type { ReadinessProbe, WorkloadGroup } from "../../kinds/workload-group.ts";
import { selectorRules } from "../selectors.ts";
import { each, labelSetRules, notNegative, portRules } from "../values.ts";

/**
 * The template's address is not required: each workload has its own.
 * @see docs/how-istio-does-it/kind-rules.md#workloadgroup
 */
export function* workloadGroupRules(spec: WorkloadGroup): Generator<Finding> {
  yield* labelSetRules(spec.metadata?.labels, ["metadata", "labels"]);
  yield* labelSetRules(spec.template.labels, ["template", "labels"]);
  yield* probeRules(spec.probe, ["probe"]);
}

function* probeRules(probe: ReadinessProbe | undefined, path: Path): Generator<Finding> {
  if (probe === undefined) return;
  for (const name of [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ] as const) {
    yield* notNegative(probe[name], [...path, name]);
  }
  const { httpGet, tcpSocket, exec, grpc } = probe;
  const methods = [httpGet, tcpSocket, exec, grpc].filter((method) => method !== undefined);
  if (methods.length !== 1) {
    yield error(path, "needs exactly one of httpGet, tcpSocket, exec and grpc", "", "missing-field");
  }
  if (httpGet !== undefined) {
    const at = [...path, "httpGet"];
    yield* portRules(httpGet.port, [...at, "port"]);
    if (httpGet.scheme !== undefined && httpGet.scheme !== "HTTP" && httpGet.scheme !== "HTTPS") {
      yield error([...at, "scheme"], `${JSON.stringify(httpGet.scheme)} is neither HTTP nor HTTPS`);
    }
    yield* each(httpGet.httpHeaders, [...at, "httpHeaders"], function* ({ name = "" }, where) {
      if (!/^[-A-Za-z0-9]+$/.test(name))
        yield error([...where, "name"], `${JSON.stringify(name)} is not a header name`);
    });
  }
  if (tcpSocket !== undefined) yield* portRules(tcpSocket.port, [...path, "tcpSocket", "port"]);
  if (grpc?.port !== undefined) yield* portRules(grpc.port, [...path, "grpc", "port"]);
  if (exec !== undefined && exec.command.length === 0) {
    yield error([...path, "exec", "command"], "is required", "", "missing-field");
  }
}

/** Where settings are made instead that are read before a proxy asks for anything. */
const startSettings = {
  concurrency: "start Envoy with --concurrency",
  image: "name the image where the proxy is deployed",
} as const;

/** Variables that become metadata of the proxy's node, which answers may depend on. */
const nodeVariable = /^ISTIO_META(?:JSON)?_/;

/** @see docs/how-istio-does-it/kind-rules.md#proxyconfig */
export function* proxyConfigRules(spec: ProxyConfigResource): Generator<Finding> {
  yield* notNegative(spec.concurrency, ["concurrency"]);
  yield* selectorRules(spec.selector, ["selector"]);
  const effect = "is about how a proxy is started, which no answer to it can change";
  for (const field of ["concurrency", "image"] as const) {
    if (spec[field] === undefined) continue;
    yield warning([field], effect, startSettings[field], "proxy-config-not-served");
  }
  for (const name of Object.keys(spec.environmentVariables ?? {})) {
    if (nodeVariable.test(name)) continue;
    const hint = "set it where Envoy and its agent are started";
    yield warning(["environmentVariables", name], effect, hint, "proxy-config-not-served");
  }
}
