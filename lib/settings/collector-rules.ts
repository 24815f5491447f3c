import { error, type Finding } from "../config/finding.ts";
import type { CollectorSettings } from "./schema.ts";

/** What every kind may have. */
const common = ["kind", "source", "allowEmpty", "takeOver"] as const;

const ofKind: Readonly<Record<CollectorSettings["kind"], readonly (keyof CollectorSettings)[]>> = {
  dir: ["folder"],
  kube: ["context", "cluster", "secretNames", "workloadEntries"],
  consul: ["address", "datacenters", "health"],
  mcp: ["address", "kinds", "tls", "tokenFile", "ca", "certificate", "key", "serverName"],
};

const needed: Readonly<Partial<Record<CollectorSettings["kind"], keyof CollectorSettings>>> = {
  dir: "folder",
  mcp: "address",
};

const usualSources = { dir: "main", kube: "kubernetes", consul: "consul", mcp: "mcp" } as const;

/** The source that a collector fills. */
export const sourceOf = ({ kind, source }: CollectorSettings): string => source ?? usualSources[kind];

/** What is wrong with a list of collectors: fields of another kind, what a kind needs, two that fill one source. */
export function collectorFindings(collectors: readonly CollectorSettings[]): readonly Finding[] {
  const filled = new Map<string, number>();
  return collectors.flatMap((collector, index) => {
    const { kind } = collector;
    const path = ["collectors", index];
    const known: ReadonlySet<string> = new Set([...common, ...ofKind[kind]]);
    const foreign = Object.keys(collector).filter((name) => !known.has(name));
    const findings = foreign.map((name) =>
      error([...path, name], `a collector of kind ${kind} has no ${name}`, `it has ${[...known].join(", ")}`),
    );
    const missing = needed[kind];
    if (missing !== undefined && collector[missing] === undefined)
      findings.push(error([...path, missing], "is required", `name what is followed`, "missing-field"));
    const source = sourceOf(collector);
    const other = filled.get(source);
    if (other !== undefined)
      findings.push(
        error([...path, "source"], `fills ${source}, as collectors[${other}] does`, "give it a source of its own"),
      );
    filled.set(source, index);
    return findings;
  });
}
