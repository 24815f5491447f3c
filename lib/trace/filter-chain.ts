import type { CidrRangeJson } from "../../gen/envoy/config/core/v3/address_pb.ts";
import type {
  FilterChainJson,
  FilterChainMatchJson,
} from "../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { isLoopback } from "../base/loopback.ts";
import { holds, networkText, plainAddress } from "./addresses.ts";
import { type Decision, decided, type PassedOver } from "./decision.ts";
import type { Inspected } from "./listener-filters.ts";
import type { TracedRequest } from "./traced-request.ts";

export interface ChosenChain {
  readonly decision: Decision;
  /** Absent where the connection is closed. */
  readonly chain?: FilterChainJson;
}

/** One thing that chains are told apart by. */
interface Criterion {
  readonly name: string;
  /** What a chain asks for; `any` where it asks for nothing. */
  keysOf(match: FilterChainMatchJson): readonly string[];
  /** What this connection has, the most exact first. */
  wanted(keys: readonly string[]): readonly string[];
}

const any = "any";

/**
 * Which filter chain of a listener takes a connection. Envoy narrows them down by one criterion after the other, takes the most exact of
 * each, and never goes back: a chain that is more exact in an early criterion hides those that would have fitted in a later one.
 *
 * @see envoy 1.40.0 source/common/listener_manager/filter_chain_manager_impl.cc, findFilterChain
 */
export function chooseFilterChain(listener: ListenerJson, request: TracedRequest, seen: Inspected): ChosenChain {
  const { name = "", filterChains = [], defaultFilterChain, filterChainMatcher } = listener;
  if (filterChainMatcher !== undefined) {
    const why = "the listener chooses by a matcher, which is not followed here";
    return { decision: decided({ step: "filter chain", why }) };
  }
  let left = filterChains.map((chain, index) => ({ chain, index, match: chain.filterChainMatch ?? {} }));
  const passed: PassedOver[] = [];
  for (const criterion of criteriaOf(request, seen)) {
    const keys = new Set(left.flatMap(({ match }) => criterion.keysOf(match)));
    const wanted = criterion.wanted([...keys]);
    const best = wanted.find((key) => keys.has(key));
    const kept = left.filter(({ match }) => best !== undefined && criterion.keysOf(match).includes(best));
    for (const one of left) {
      if (kept.includes(one)) continue;
      const own = criterion.keysOf(one.match);
      const isLess = own.some((key) => wanted.includes(key));
      const why = isLess
        ? `${criterion.name} ${own.join(", ")} is less exact than ${best}`
        : `${criterion.name} ${own.join(", ")} does not fit`;
      passed.push({ name: chainName(one.chain, one.index), why });
    }
    left = kept;
  }
  // Nearest is what was dropped last.
  passed.reverse();
  const [found] = left;
  if (found !== undefined) {
    const chosen = chainName(found.chain, found.index);
    const place = { type: "listeners", name, index: found.index } as const;
    return {
      decision: decided({ step: "filter chain", chosen, place, why: whyOf(found.match) }, passed),
      chain: found.chain,
    };
  }
  if (defaultFilterChain !== undefined) {
    const chosen = defaultFilterChain.name ?? "default";
    const why = "no other chain fits: it is the default";
    const decision = decided({ step: "filter chain", chosen, place: { type: "listeners", name }, why }, passed);
    return { decision, chain: defaultFilterChain };
  }
  return { decision: decided({ step: "filter chain", why: "no chain fits, and there is no default" }, passed) };
}

const chainName = ({ name = "" }: FilterChainJson, index: number): string =>
  name === "" ? `chain ${index}` : `${name} (chain ${index})`;

function whyOf(match: FilterChainMatchJson): string {
  const asked = criteriaNames.flatMap(({ name, keysOf }) => {
    const keys = keysOf(match);
    return keys.includes(any) || keys === wholeRanges ? [] : [`${name} ${keys.join(", ")}`];
  });
  return asked.length === 0 ? "it takes every connection that no other chain is for" : asked.join("; ");
}

const listOr = (keys: readonly string[] = []): readonly string[] => (keys.length === 0 ? [any] : keys);
/** No range at all is the same to Envoy as the two that hold everything; beside chains that name these it leaves open which one wins. */
const wholeRanges: readonly string[] = ["0.0.0.0/0", "::/0"];
const rangesOf = (ranges: readonly CidrRangeJson[] = []): readonly string[] =>
  ranges.length === 0 ? wholeRanges : ranges.map(networkText);

/** In the order in which Envoy applies them. */
const criteriaNames = [
  {
    name: "destination port",
    keysOf: ({ destinationPort }: FilterChainMatchJson) => [
      destinationPort === undefined ? any : String(destinationPort),
    ],
  },
  { name: "destination range", keysOf: ({ prefixRanges }: FilterChainMatchJson) => rangesOf(prefixRanges) },
  {
    name: "server name",
    keysOf: ({ serverNames }: FilterChainMatchJson) => listOr(serverNames?.map((name) => name.toLowerCase())),
  },
  {
    name: "transport protocol",
    keysOf: ({ transportProtocol = "" }: FilterChainMatchJson) => [transportProtocol || any],
  },
  {
    name: "application protocol",
    keysOf: ({ applicationProtocols }: FilterChainMatchJson) => listOr(applicationProtocols),
  },
  {
    name: "direct source range",
    keysOf: ({ directSourcePrefixRanges }: FilterChainMatchJson) => rangesOf(directSourcePrefixRanges),
  },
  {
    name: "source type",
    keysOf: ({ sourceType = "ANY" }: FilterChainMatchJson) => [sourceType === "ANY" ? any : String(sourceType)],
  },
  { name: "source range", keysOf: ({ sourcePrefixRanges }: FilterChainMatchJson) => rangesOf(sourcePrefixRanges) },
  { name: "source port", keysOf: ({ sourcePorts }: FilterChainMatchJson) => listOr(sourcePorts?.map(String)) },
] as const;

function criteriaOf({ destination, source }: TracedRequest, seen: Inspected): readonly Criterion[] {
  const isLocal =
    source !== undefined &&
    (isLoopback(plainAddress(source.address)) ||
      (destination.address !== undefined && plainAddress(source.address) === plainAddress(destination.address)));
  const wanted: readonly Criterion["wanted"][] = [
    () => [String(destination.port), any],
    (keys) => rangesWith(keys, destination.address),
    () => [...serverNames(seen.serverName), any],
    () => [seen.transportProtocol, any],
    () => [...seen.applicationProtocols, any],
    (keys) => rangesWith(keys, source?.address),
    () => [isLocal ? "SAME_IP_OR_LOOPBACK" : "EXTERNAL", any],
    (keys) => rangesWith(keys, source?.address),
    () => [String(source?.port), any],
  ];
  return criteriaNames.map((criterion, at) => ({ ...criterion, wanted: wanted[at] ?? (() => [any]) }));
}

/** The ranges that hold an address, the longest prefix first. An address that is not known is an IPv4 address that no range names. */
function rangesWith(keys: readonly string[], address: string | undefined): readonly string[] {
  const lengthOf = (key: string) => Number(key.slice(key.lastIndexOf("/") + 1));
  if (address === undefined) return wholeRanges.slice(0, 1);
  return keys.filter((key) => holds(key, address)).sort((a, b) => lengthOf(b) - lengthOf(a));
}

/** `a.b.c`, `*.b.c`, `*.c`. */
function serverNames(name: string): readonly string[] {
  if (name === "") return [];
  const labels = name.split(".");
  return [name, ...labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join(".")}`)];
}
