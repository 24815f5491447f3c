import { byCodePoint } from "../../config/diagnostic.ts";
import { standInAddress } from "../../registry/kubernetes/stand-in.ts";
import { accountKey, type Classifier, projectorOf } from "../../snapshot/classifier.ts";
import type { Memo } from "../memo/memo.ts";
import { step } from "../memo/step.ts";
import type { Proxy } from "../proxy/proxy.ts";
import type { AlikeProxies } from "./alike-proxies.ts";
import { claimsOf } from "./claims.ts";
import type { ClassReads } from "./class-reads.ts";

/** Which proxies are of which class: all that finding the class of a node is made from. */
export interface Places extends Placed {
  readonly reads: ClassReads;
  /** By `<type>/<namespace>`, the class of a sidecar there that says nothing of itself. */
  readonly defaults: readonly (readonly [string, string])[];
}

interface Placed {
  readonly census: readonly Proxy[];
  readonly groups: readonly AlikeProxies[];
  /** Of the groups' classes. */
  readonly ids: readonly string[];
}

export interface CensusNode {
  /** Its `podName.namespace` and what else it calls itself, its addresses, and `accountKey` where it has a service account. */
  readonly keys: readonly string[];
  readonly classId: string;
}

/** The same object as long as every proxy is where it was, and nodes are told apart by what they were. */
export const placesOf = step(
  "places of proxies",
  { census: "identity", groups: "identity", ids: "identity", reads: "identity", defaults: "value" },
  (places: Places): Places => places,
);

/** How a node becomes a class without the compiler. */
export const classifierOf = (memo: Memo, { reads, defaults, ...placed }: Places): Classifier =>
  oneClassifier(memo, {
    ...reads,
    classes: projectionTable(memo, { ...placed, reads }),
    defaults: sortedRecord(new Map(defaults)),
  });

/** Most changes change none of it: the same object then, whose text is known. */
const oneClassifier = step(
  "classifier",
  { attributes: "value", labels: "value", classes: "identity", defaults: "value" },
  (classifier: Classifier): Classifier => classifier,
);

/** The proxies that the compiler knows, by the names they may call themselves; in the order of the census. */
export const nodesOf = (memo: Memo, { census, groups, ids }: Places): readonly CensusNode[] =>
  nodesIn(memo, { census, groups, ids });

/** Projection of what each node would send → class; without those that stand for several. */
const projectionTable = step(
  "table of projections",
  { census: "identity", groups: "identity", ids: "identity", reads: "identity" },
  ({ census, groups, ids, reads }: Placed & { readonly reads: ClassReads }, memo: Memo) => {
    const table = new Map<string, string | undefined>();
    const wanted = new Map<string, string | undefined>();
    const projector = projectorFor(memo, { reads });
    for (const [at, { members }] of groups.entries()) {
      for (const position of members) {
        const proxy = census[position];
        const projection = proxy && projectionOf(memo, { projector, proxy });
        if (proxy === undefined || projection === undefined) continue;
        const rows = proxy.isWanted === true ? wanted : table;
        rows.set(projection, !rows.has(projection) || rows.get(projection) === ids[at] ? ids[at] : undefined);
      }
    }
    // What a node has asked for takes nothing from the workloads that are known.
    return sortedRecord(new Map([...wanted, ...table]));
  },
);

const projectorFor = step("projector", { reads: "identity" }, ({ reads }: { readonly reads: ClassReads }) =>
  projectorOf(reads),
);

const projectionOf = step(
  "projection of a proxy",
  { projector: "identity", proxy: "identity" },
  ({ projector, proxy }: { readonly projector: ReturnType<typeof projectorOf>; readonly proxy: Proxy }) =>
    projector(claimsOf(proxy)),
);

const nodesIn = step(
  "nodes of a census",
  { census: "identity", groups: "identity", ids: "identity" },
  ({ census, groups, ids }: Placed): readonly CensusNode[] => {
    const idOf: string[] = [];
    for (const [at, { members }] of groups.entries()) for (const position of members) idOf[position] = ids[at] ?? "";
    const nodes: CensusNode[] = [];
    for (const [position, proxy] of census.entries()) {
      if (proxy.isWanted !== true) nodes.push({ keys: keysOf(proxy), classId: idOf[position] ?? "" });
    }
    return nodes;
  },
);

function keysOf({ id, alias, addresses, serviceAccount }: Proxy): readonly string[] {
  const names = alias === undefined ? [id] : [id, alias];
  const keys = names.slice();
  // The pods of templates share an address that none of them has.
  for (const address of addresses) if (address !== standInAddress) keys.push(address);
  if (serviceAccount !== "") for (const name of names) keys.push(accountKey(serviceAccount, name));
  return keys;
}

/** By key, without those whose value is undefined. */
function sortedRecord(map: ReadonlyMap<string, string | undefined>): Readonly<Record<string, string>> {
  const entries = [...map].flatMap(([key, value]): readonly (readonly [string, string])[] =>
    value === undefined ? [] : [[key, value]],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => byCodePoint(a, b)));
}
