import { durationMs } from "../../../base/duration.ts";
import { error, type Finding, type Path, warning } from "../../finding.ts";
import type {
  BackendUtilizationLB,
  ConsistentHashLB,
  LoadBalancerSettings,
  LocalityFailover,
  LocalityLoadBalancerSetting,
} from "../../kinds/destination-rule.ts";
import { lengthRules, maxLocalities } from "../expansion.ts";
import { duplicates, each } from "../values.ts";

/** @see docs/how-istio-does-it/validation.md#traffic-policies */
export function* loadBalancerRules(
  settings: LoadBalancerSettings | undefined,
  path: Path,
  hasOutlierDetection: boolean,
): Generator<Finding> {
  if (settings === undefined) return;
  const { simple, consistentHash, backendUtilization } = settings;
  const { localityLbSetting, zoneAwareLbSetting, warmup, warmupDurationSecs } = settings;
  const policies = (["simple", "consistentHash", "backendUtilization"] as const).filter(
    (name) => settings[name] !== undefined,
  );
  if (policies.length > 1) {
    yield error(path, `${policies.join(" and ")} exclude each other`, "keep one of them", "conflicting-fields");
  }
  if (backendUtilization !== undefined) {
    yield* backendUtilizationRules(backendUtilization, [...path, "backendUtilization"]);
  }
  if (simple === "LEAST_CONN") yield warning([...path, "simple"], "LEAST_CONN is deprecated", "use LEAST_REQUEST");
  if (consistentHash !== undefined) yield* consistentHashRules(consistentHash, [...path, "consistentHash"]);
  if (localityLbSetting !== undefined && zoneAwareLbSetting !== undefined) {
    yield error(path, "localityLbSetting and zoneAwareLbSetting exclude each other", "", "conflicting-fields");
  }
  yield* localityRules(localityLbSetting, [...path, "localityLbSetting"], hasOutlierDetection);
  if (zoneAwareLbSetting !== undefined) {
    const at = [...path, "zoneAwareLbSetting"];
    yield* topologyLabelRules(zoneAwareLbSetting.failoverPriority, at);
    yield* failoverRules(zoneAwareLbSetting.failover, at);
  }
  if (warmup !== undefined) {
    if (warmupDurationSecs !== undefined) {
      yield warning(path, "warmupDurationSecs is deprecated, and warmup replaces it", "keep warmup");
    }
    if ((warmup.minimumPercent ?? 0) > 100 || (warmup.minimumPercent ?? 0) < 0) {
      yield error([...path, "warmup", "minimumPercent"], `${warmup.minimumPercent} is not between 0 and 100`);
    }
    if (warmup.aggression !== undefined && warmup.aggression <= 0) {
      yield error([...path, "warmup", "aggression"], `${warmup.aggression} must be greater than 0`);
    }
  }
}

/** Weights are computed at most so often. */
const minUpdateMs = 100;

function* backendUtilizationRules(settings: BackendUtilizationLB, path: Path): Generator<Finding> {
  for (const name of ["weightStabilizationPeriod", "weightExpirationPeriod", "weightUpdatePeriod"] as const) {
    if (durationMs(settings[name] ?? "0s") < 0) yield error([...path, name], "must not be negative");
  }
  const { weightUpdatePeriod: update, metricNamesForComputingUtilization: metrics } = settings;
  if (update !== undefined && durationMs(update) < minUpdateMs) {
    yield warning([...path, "weightUpdatePeriod"], `${update} counts as ${minUpdateMs}ms`, `write ${minUpdateMs}ms`);
  }
  yield* each(metrics, [...path, "metricNamesForComputingUtilization"], function* (name, at) {
    if (name === "") yield error(at, "must not be empty");
  });
}

const maxTableSize = 5_000_011;

function* consistentHashRules(hash: ConsistentHashLB, path: Path): Generator<Finding> {
  const keys = (["httpHeaderName", "httpCookie", "useSourceIp", "httpQueryParameterName"] as const).filter(
    (name) => hash[name] !== undefined,
  );
  if (keys.length > 1)
    yield error(path, `${keys.join(" and ")} exclude each other`, "keep one of them", "conflicting-fields");
  const { httpCookie, ringHash, maglev, minimumRingSize } = hash;
  if (ringHash !== undefined && maglev !== undefined) {
    yield error(path, "ringHash and maglev exclude each other", "keep one of them", "conflicting-fields");
  }
  if (httpCookie !== undefined) {
    const at = [...path, "httpCookie"];
    if (httpCookie.name === "") yield error([...at, "name"], "is required", "", "missing-field");
    const attributes = httpCookie.attributes ?? [];
    yield* each(attributes, [...at, "attributes"], function* (attribute, where) {
      if (attribute.name === "") yield error([...where, "name"], "is required", "", "missing-field");
    });
    for (const [index, name] of duplicates(attributes.map((attribute) => attribute.name))) {
      yield error([...at, "attributes", index, "name"], `${JSON.stringify(name)} is given twice`);
    }
  }
  if (minimumRingSize !== undefined) {
    yield warning([...path, "minimumRingSize"], "is deprecated", "use ringHash.minimumRingSize");
    if (ringHash !== undefined || maglev !== undefined) {
      yield error([...path, "minimumRingSize"], "excludes ringHash and maglev", "", "conflicting-fields");
    }
  }
  if (maglev !== undefined) {
    const { tableSize } = maglev;
    const at = [...path, "maglev", "tableSize"];
    if (tableSize === undefined) yield error(at, "must be given and greater than 0", "", "missing-field");
    else if (tableSize >= maxTableSize) yield error(at, `${tableSize} is not below ${maxTableSize}`);
    else if (!isPrime(tableSize)) yield error(at, `${tableSize} is not a prime number`);
  }
}

/** 1 counts as prime, as in Istio. */
function isPrime(value: number): boolean {
  for (let divisor = 2; divisor * divisor <= value; divisor++) if (value % divisor === 0) return false;
  return true;
}

const topologyLabels: ReadonlySet<string> = new Set([
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "topology.istio.io/subzone",
]);

/** Also MeshConfig's own setting. */
export function* localityRules(
  setting: LocalityLoadBalancerSetting | undefined,
  path: Path,
  hasOutlierDetection: boolean,
): Generator<Finding> {
  if (setting === undefined) return;
  const { distribute, failover, failoverPriority } = setting;
  if (distribute !== undefined && failover !== undefined) {
    yield error(path, "distribute and failover exclude each other", "keep one of them", "conflicting-fields");
    return;
  }
  if (failover !== undefined) {
    const clash = [...topologyLabelRules(failoverPriority, path)];
    yield* clash;
    if (clash.length > 0) return;
  }
  yield* distributeRules(distribute ?? [], [...path, "distribute"]);
  if ((failover !== undefined || failoverPriority !== undefined) && !hasOutlierDetection) {
    yield warning(path, "failover without outlierDetection has no effect", "add outlierDetection");
  }
  yield* failoverRules(failover, path);
}

function* topologyLabelRules(labels: readonly string[] | undefined, path: Path): Generator<Finding> {
  for (const [index, label] of (labels ?? []).entries()) {
    if (topologyLabels.has(label)) {
      yield error([...path, "failoverPriority", index], `${label} clashes with failover`, "", "conflicting-fields");
    }
  }
}

function* failoverRules(failover: readonly LocalityFailover[] | undefined, path: Path): Generator<Finding> {
  yield* each(failover, [...path, "failover"], function* ({ from = "", to = "" }, at) {
    if (from === to) yield error(at, `from and to are both ${JSON.stringify(from)}`);
    for (const [name, region] of [
      ["from", from],
      ["to", to],
    ] as const) {
      if (region.includes("/")) yield error([...at, name], `${JSON.stringify(region)} names more than a region`);
      if (region.includes("*")) yield error([...at, name], "must not have a wildcard");
    }
  });
}

function* distributeRules(
  distribute: readonly { readonly from?: string; readonly to?: Readonly<Record<string, number>> }[],
  path: Path,
): Generator<Finding> {
  for (const [index, { to = {} }] of distribute.entries()) {
    const weights = Object.entries(to);
    const outside = weights.find(([, weight]) => weight < 1 || weight > 100);
    if (outside !== undefined) {
      yield error([...path, index, "to", outside[0]], `${outside[1]} is not between 1 and 100`);
      return;
    }
    const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
    if (total !== 100) {
      yield error([...path, index, "to"], `the weights add up to ${total}`, "make them add up to 100");
      return;
    }
    yield* localityListRules(Object.keys(to), [...path, index, "to"]);
  }
  yield* localityListRules(
    distribute.map(({ from = "" }) => from),
    path,
  );
}

/** Patterns `region/zone/subzone`, one wildcard at the end; no two of them may cover the same locality. */
function* localityListRules(localities: readonly string[], path: Path): Generator<Finding> {
  yield* lengthRules(localities, maxLocalities, path);
  if (localities.length > maxLocalities) return;
  for (const [index, locality] of localities.entries()) {
    const star = locality.indexOf("*");
    if (star >= 0 && star !== locality.length - 1) {
      yield error(path, `${JSON.stringify(locality)}: a wildcard is allowed only at the end`);
    }
    if (locality.split("/").includes("")) yield error(path, `${JSON.stringify(locality)} has an empty part`);
    const earlier = localities.slice(0, index).find((other) => localitiesOverlap(other, locality));
    if (earlier !== undefined) {
      yield error(path, `${JSON.stringify(locality)} overlaps with ${JSON.stringify(earlier)}`);
    }
  }
}

function localitiesOverlap(a: string, b: string): boolean {
  const left = a.split("/");
  const right = b.split("/");
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const [one, other] = [left[index], right[index]];
    if (one === "*" || other === "*" || one === undefined || other === undefined) return true;
    if (one !== other) return false;
  }
  return true;
}
