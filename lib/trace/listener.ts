import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { isLoopback } from "../base/loopback.ts";
import { isIpv6, plainAddress, type SocketAddress, socketAddressOf } from "./addresses.ts";
import { type Decision, decided, type PassedOver } from "./decision.ts";
import type { TracedRequest } from "./traced-request.ts";
import { isOfMessage } from "./typed-config.ts";

/** The listeners that a connection comes through; the last one handles it. */
export interface ChosenListener {
  readonly decision: Decision;
  /** Empty where none takes it. */
  readonly through: readonly ListenerJson[];
}

interface Candidate {
  readonly listener: ListenerJson;
  readonly addresses: readonly SocketAddress[];
}

/** How well an address fits, best first. */
type Fit = "exact" | "wildcard" | "none";

/**
 * Which listener takes a connection: the one that connections are led to (by iptables), or one that is bound to where it goes; and from
 * one that uses the original destination, the one of that address, or of its port on all addresses.
 *
 * @see envoy 1.40.0 source/common/listener_manager/connection_handler_impl.cc, getBalancedHandlerByAddress
 */
export function chooseListener(listeners: readonly ListenerJson[], request: TracedRequest): ChosenListener {
  const candidates = listeners.map((listener): Candidate => ({ listener, addresses: addressesOf(listener) }));
  const entry = capturing(candidates, request);
  if (entry === undefined) {
    const bound = candidates.filter(({ listener }) => listener.bindToPort !== false);
    return chosenByAddress(bound, request, [], undefined);
  }
  if (entry.useOriginalDst !== true) {
    const why = `${request.direction} connections are led to it`;
    const decision = decided({ step: "listener", ...nameOf(entry), why }, others(candidates, request, entry));
    return { decision, through: [entry] };
  }
  return chosenByAddress(candidates, request, [entry], entry);
}

function addressesOf({ address, additionalAddresses = [] }: ListenerJson): readonly SocketAddress[] {
  return [address, ...additionalAddresses.map((one) => one.address)].flatMap((one) => socketAddressOf(one) ?? []);
}

/** The listener that the workload's connections are led to. What goes to a loopback address is led nowhere. */
function capturing(candidates: readonly Candidate[], request: TracedRequest): ListenerJson | undefined {
  const { direction, destination } = request;
  if (direction === "outbound" && destination.address !== undefined && isLoopback(plainAddress(destination.address)))
    return undefined;
  const wanted = direction === "outbound" ? "OUTBOUND" : "INBOUND";
  return candidates.find(
    ({ listener }) =>
      listener.bindToPort !== false && listener.trafficDirection === wanted && restoresDestination(listener),
  )?.listener;
}

function restoresDestination({ useOriginalDst, listenerFilters = [] }: ListenerJson): boolean {
  return (
    useOriginalDst === true ||
    listenerFilters.some(({ typedConfig }) =>
      isOfMessage(typedConfig, "envoy.extensions.filters.listener.original_dst.v3.OriginalDst"),
    )
  );
}

function chosenByAddress(
  candidates: readonly Candidate[],
  request: TracedRequest,
  through: readonly ListenerJson[],
  fallback: ListenerJson | undefined,
): ChosenListener {
  const fits = (wanted: Fit) => candidates.find(({ addresses }) => fitOf(addresses, request) === wanted)?.listener;
  const exact = fits("exact");
  const found = exact ?? fits("wildcard");
  const at = destinationText(request);
  const led =
    fallback === undefined ? "" : `${fallback.name} hands connections on to the listener of their destination: `;
  const passed = others(candidates, request, found ?? fallback);
  if (found !== undefined && found !== fallback) {
    const why =
      exact === undefined ? `${led}it has port ${request.destination.port} of all addresses` : `${led}it has ${at}`;
    return { decision: decided({ step: "listener", ...nameOf(found), why }, passed), through: [...through, found] };
  }
  if (fallback === undefined) {
    const why = `no listener is bound to ${at}`;
    return { decision: decided({ step: "listener", why }, passed), through: [] };
  }
  const why = `connections are led to it, and no listener has ${at}, so it keeps this one`;
  return { decision: decided({ step: "listener", ...nameOf(fallback), why }, passed), through };
}

function fitOf(addresses: readonly SocketAddress[], { destination: { address, port } }: TracedRequest): Fit {
  const there = addresses.filter((one) => one.port === port);
  if (address !== undefined && there.some((one) => one.address === plainAddress(address))) return "exact";
  const isWide = (one: SocketAddress) =>
    address !== undefined && isIpv6(address)
      ? one.address === "::"
      : one.address === "0.0.0.0" || (one.address === "::" && one.takesIpv4Too);
  return there.some(isWide) ? "wildcard" : "none";
}

/** The others, those of the same port first. */
function others(
  candidates: readonly Candidate[],
  request: TracedRequest,
  chosen: ListenerJson | undefined,
): readonly PassedOver[] {
  const rest = candidates.filter(({ listener }) => listener !== chosen);
  const isNear = ({ addresses }: Candidate) => addresses.some(({ port }) => port === request.destination.port);
  return [...rest.filter(isNear), ...rest.filter((one) => !isNear(one))].map(({ listener, addresses }) => {
    const [first] = addresses;
    const has = first === undefined ? "has no TCP address" : `has ${textOf(first)}`;
    const isLess = fitOf(addresses, request) === "wildcard" ? ", which is less exact" : "";
    return { name: listener.name ?? "", why: has + isLess };
  });
}

const nameOf = ({ name = "" }: ListenerJson) => ({ chosen: name, place: { type: "listeners", name } }) as const;

const textOf = ({ address, port }: Pick<SocketAddress, "address" | "port">): string =>
  isIpv6(address) ? `[${address}]:${port}` : `${address}:${port}`;

const destinationText = ({ destination: { address, port } }: TracedRequest): string =>
  address === undefined ? `port ${port} of an address that is not known` : textOf({ address, port });
