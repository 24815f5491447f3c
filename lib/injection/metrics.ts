import { PortolanError } from "../base/diagnostic.ts";
import { type Fields, fieldsOf, jsonIn, listOf, textOf } from "../base/untyped.ts";
import { annotationsOf, type Pod } from "./pod.ts";

const isTrue = (text: string): boolean => /^(1|t|T|true|TRUE|True)$/.test(text);
const isFalse = (text: string): boolean => /^(0|f|F|false|FALSE|False)$/.test(text);

/** `prometheus.io/port` and `prometheus.io.port` are one annotation to Prometheus. */
const plainName = (name: string): string => name.replace(/[^a-zA-Z0-9_]/g, "_");
const targetsName = "prometheus_istio_io_scrape_targets";
const parts = { scrape: "prometheus_io_scrape", path: "prometheus_io_path", port: "prometheus_io_port" } as const;

const valueOf = (annotations: Readonly<Record<string, string>>, part: keyof typeof parts): string | undefined =>
  Object.entries(annotations).find(([name]) => plainName(name) === parts[part])?.[1];

const withoutAll = (annotations: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(annotations).filter(
      ([name]) => !Object.values<string>(parts).includes(plainName(name)) && plainName(name) !== targetsName,
    ),
  );

/** A pod whose metrics are read from the agent, and what the agent reads of the workload then. */
export interface MergedMetrics {
  readonly annotations: Readonly<Record<string, string>>;
  /** `ISTIO_PROMETHEUS_ANNOTATIONS`; undefined where the pod says nothing of metrics. */
  readonly scrape: Fields | undefined;
}

/**
 * Leads Prometheus to the agent, which has the metrics of the workload and of Envoy.
 *
 * @param port of the agent in the mesh's settings
 * @returns undefined where metrics are not to be merged, and where they were before
 * @see istio 1.30.3 pkg/kube/inject/webhook.go, applyPrometheusMerge
 */
export function mergedMetrics(pod: Pod, isUsual: boolean, port: number): MergedMetrics | undefined {
  const annotations = annotationsOf(pod);
  const wanted = annotations["prometheus.istio.io/merge-metrics"];
  if (wanted === undefined ? !isUsual : !isTrue(wanted)) return undefined;
  const scrape = valueOf(annotations, "scrape");
  if (scrape !== undefined && isFalse(scrape)) return undefined;
  const [ownPort, path] = [valueOf(annotations, "port"), valueOf(annotations, "path")];
  if (ownPort === String(port)) return undefined;
  const targets = targetsIn(annotations);
  const [first] = targets;
  const said = [scrape, path, ownPort, first].some((one) => one !== undefined);
  const from = first ?? { path: path ?? "", port: ownPort ?? "" };
  return {
    annotations: {
      ...withoutAll(annotations),
      "prometheus.io/port": String(port),
      "prometheus.io/path": "/stats/prometheus",
      "prometheus.io/scrape": "true",
    },
    scrape: said ? { scrape: scrape ?? "", ...from, ...(first === undefined ? {} : { targets }) } : undefined,
  };
}

/** `prometheus.istio.io/scrape-targets`, PORT or PORT:PATH with commas between. @throws PortolanError for another form */
function targetsIn(
  annotations: Readonly<Record<string, string>>,
): readonly { readonly path: string; readonly port: string }[] {
  const [name, text] = Object.entries(annotations).find(([one]) => plainName(one) === targetsName) ?? [];
  if (text === undefined) return [];
  return text.split(",").map((target) => {
    const [, port = "", path = "/metrics"] = /^\s*(\d{1,5})(?::(\/\S*))?\s*$/.exec(target) ?? [];
    if (port === "" || Number(port) < 1 || Number(port) > 65_535)
      throw new PortolanError(
        `invalid value '${text}' for annotation '${name}': must be ports and paths, 8080:/metrics,9100`,
      );
    return { port, path };
  });
}

/** The annotations as they were before. @param text of `ISTIO_PROMETHEUS_ANNOTATIONS`; undefined for none */
export function restoredMetrics(
  annotations: Readonly<Record<string, string>>,
  text: string | undefined,
): Readonly<Record<string, string>> {
  const isOurs =
    annotations["prometheus.io/path"] === "/stats/prometheus" && annotations["prometheus.io/scrape"] === "true";
  if (!isOurs) return annotations;
  const scrape = fieldsOf(text === undefined ? undefined : jsonIn(text));
  const targets = listOf(scrape.targets).map(fieldsOf);
  const listed = targets.map(({ port, path }) => `${textOf(port)}:${textOf(path)}`).join(",");
  const before = Object.keys(parts).flatMap((part) => {
    const value = listed === "" || part === "scrape" ? textOf(scrape[part]) : "";
    return value === "" ? [] : [[`prometheus.io/${part}`, value] as const];
  });
  const named = listed === "" ? {} : { "prometheus.istio.io/scrape-targets": listed };
  return { ...withoutAll(annotations), ...Object.fromEntries(before), ...named };
}
