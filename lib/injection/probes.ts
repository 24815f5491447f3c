import { type Fields, fieldsOf, isFields, jsonIn, listIn, numberOf, textOf } from "../base/untyped.ts";
import { containersOf, initContainersOf, nameOf, type Pod, proxyName, withContainers } from "./pod.ts";

/** Probes of a container, with the path that Istio's agent answers each at. */
const probes = [
  ["readinessProbe", "readyz"],
  ["livenessProbe", "livez"],
  ["startupProbe", "startupz"],
] as const;
const handlers = [
  ["preStop", "prestopz"],
  ["postStart", "poststartz"],
] as const;

/** What a probe asks for: one of the three. */
interface Asked {
  readonly httpGet?: Fields;
  readonly tcpSocket?: Fields;
  readonly grpc?: Fields;
}

function askedBy(probe: unknown, takesGrpc: boolean): Asked | undefined {
  const { httpGet, tcpSocket, grpc } = fieldsOf(probe);
  if (isFields(httpGet)) return { httpGet };
  if (isFields(tcpSocket)) return { tcpSocket };
  return takesGrpc && isFields(grpc) ? { grpc } : undefined;
}

/** A pod whose probes the agent answers, and what it asks the workload then. */
export interface RewrittenProbes {
  readonly pod: Pod;
  /** `ISTIO_KUBE_APP_PROBERS`; undefined where there is nothing to ask. */
  readonly probers: Readonly<Record<string, Fields>> | undefined;
}

/**
 * Leads the probes of the workload to the agent, which a kubelet without a certificate can reach.
 *
 * @param ports `own`: of the agent of this pod; `usual`: of the mesh, by which a probe is known that was led there before
 * @see istio 1.30.3 pkg/kube/inject/app_probe.go
 */
export function rewrittenProbes(pod: Pod, ports: { readonly own: number; readonly usual: number }): RewrittenProbes {
  const probers: Record<string, Fields> = {};
  const rewrite = (container: Fields): Fields => {
    if (nameOf(container) === proxyName) return container;
    const next: Record<string, unknown> = { ...container };
    for (const [field, end] of probes) {
      const path = `/app-health/${nameOf(container)}/${end}`;
      const asked = askedBy(container[field], true);
      if (asked === undefined) continue;
      note(probers, path, { asked, container, usual: ports.usual, timeout: fieldsOf(container[field]).timeoutSeconds });
      next[field] = ledTo(container[field], path, ports.own);
    }
    const lifecycle: Record<string, unknown> = { ...fieldsOf(container.lifecycle) };
    for (const [field, end] of handlers) {
      const path = `/app-lifecycle/${nameOf(container)}/${end}`;
      const asked = askedBy(lifecycle[field], false);
      if (asked === undefined) continue;
      note(probers, path, { asked, container, usual: ports.usual, timeout: undefined });
      lifecycle[field] = ledTo(lifecycle[field], path, ports.own);
    }
    return Object.keys(lifecycle).length === 0 ? next : { ...next, lifecycle };
  };
  const next = withContainers(pod, {
    containers: containersOf(pod).map(rewrite),
    initContainers: initContainersOf(pod).map(rewrite),
  });
  return { pod: next, probers: Object.keys(probers).length === 0 ? undefined : probers };
}

interface Noted {
  readonly asked: Asked;
  readonly container: Fields;
  readonly usual: number;
  readonly timeout: unknown;
}

/** Ports that are named are numbers for the agent; one that no container has, and one that leads to the agent already, is not noted. */
function note(probers: Record<string, Fields>, path: string, { asked, container, usual, timeout }: Noted): void {
  const seconds = numberOf(timeout);
  const timed = seconds === undefined || seconds === 0 ? {} : { timeoutSeconds: seconds };
  if (asked.grpc !== undefined) {
    probers[path] = { ...asked, ...timed };
    return;
  }
  const [kind, action] = asked.httpGet === undefined ? ["tcpSocket", asked.tcpSocket] : ["httpGet", asked.httpGet];
  const port = portOf(fieldsOf(action).port, container);
  if (port === undefined || port === usual) return;
  probers[path] = { [kind]: { ...action, port }, ...timed };
}

function portOf(port: unknown, container: Fields): number | undefined {
  if (typeof port === "number") return port;
  const found = listIn(container, "ports")
    .map(fieldsOf)
    .find(({ name }) => textOf(name) !== "" && name === port);
  return numberOf(found?.containerPort);
}

/** The same probe, asking the agent over HTTP. */
function ledTo(probe: unknown, path: string, port: number): Fields {
  const { httpGet, tcpSocket: _tcp, grpc: _grpc, ...rest } = fieldsOf(probe);
  const action = fieldsOf(httpGet);
  return { ...rest, httpGet: { ...action, path, port, ...(action.scheme === "HTTPS" ? { scheme: "HTTP" } : {}) } };
}

/** The probes as they were before. @param text of `ISTIO_KUBE_APP_PROBERS` */
export function restoredProbes(pod: Pod, text: string): Pod {
  const probers = fieldsOf(jsonIn(text));
  const restore = (container: Fields): Fields => {
    const next: Record<string, unknown> = { ...container };
    for (const [field, end] of probes) {
      const prober = probers[`/app-health/${nameOf(container)}/${end}`];
      if (isFields(prober)) next[field] = before(container[field], prober);
    }
    const lifecycle: Record<string, unknown> = { ...fieldsOf(container.lifecycle) };
    for (const [field, end] of handlers) {
      const prober = probers[`/app-lifecycle/${nameOf(container)}/${end}`];
      if (isFields(prober)) lifecycle[field] = before(lifecycle[field], prober);
    }
    return Object.keys(lifecycle).length === 0 ? next : { ...next, lifecycle };
  };
  return withContainers(pod, {
    containers: containersOf(pod).map(restore),
    initContainers: initContainersOf(pod).map(restore),
  });
}

function before(probe: unknown, { timeoutSeconds: _timeout, ...asked }: Fields): Fields {
  const { httpGet: _led, ...rest } = fieldsOf(probe);
  return { ...rest, ...asked };
}
