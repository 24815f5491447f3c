import type { ResourceType } from "../snapshot/resource-type.ts";

/** What was decided between, in the order in which Envoy decides. */
export type Step =
  | "listener"
  | "filter chain"
  | "network filter"
  | "route table"
  | "virtual host"
  | "route"
  | "HTTP filter"
  | "cluster"
  | "endpoints";

/** What a filter does with a request: `part` of them get its answer, and which ones is left to chance. */
export type Verdict = "passes" | "answers" | "part" | "depends";

/** Something that was not taken. */
export interface PassedOver {
  readonly name: string;
  /** In words, to be read after the name. */
  readonly why: string;
}

/** Where the thing that was chosen is written, among what the node has. */
export interface Place {
  readonly type: ResourceType;
  /** Of the resource. */
  readonly name: string;
  /** Name of the virtual host in a route table. */
  readonly virtualHost?: string;
  /** Of the route in its virtual host, or of the filter chain in its listener, from 0. */
  readonly index?: number;
  /** Of a filter: which of the objects behind the resource count; absent for all of them. */
  readonly behind?: readonly Behind[];
}

/** An object that a filter is made from. */
export type Behind =
  /** By its key, `AuthorizationPolicy/shop/allow-get`, and the field that counts. */
  | { readonly kind: "object"; readonly key: string; readonly path: readonly (string | number)[] }
  /** The rules of RequestAuthentications for an issuer; "" for those that name none. */
  | { readonly kind: "issuer"; readonly issuer: string }
  /** All objects of a kind. */
  | { readonly kind: "kind"; readonly name: string };

/** One step of the way. */
export interface Decision {
  readonly step: Step;
  /** Name of what was chosen; absent where nothing fits. */
  readonly chosen?: string;
  /** Absent where nothing was chosen, or what was chosen is not among the node's resources. */
  readonly place?: Place;
  /** Of a filter. */
  readonly verdict?: Verdict;
  /** In words. */
  readonly why: string;
  /** At most `maxPassedOver`, those that came nearest. */
  readonly passedOver: readonly PassedOver[];
  /** How many more there are. */
  readonly morePassedOver: number;
}

const maxPassedOver = 20;

/** A decision with what was passed over, cut to what a person reads. */
export function decided(
  decision: Pick<Decision, "step" | "chosen" | "place" | "verdict" | "why">,
  passedOver: readonly PassedOver[] = [],
): Decision {
  return {
    ...decision,
    passedOver: passedOver.slice(0, maxPassedOver),
    morePassedOver: Math.max(0, passedOver.length - maxPassedOver),
  };
}

/** An endpoint that requests go to. */
export interface TracedEndpoint {
  /** An IP address, a name for DNS, or the path of a socket. */
  readonly address: string;
  /** 0 for a socket's path. */
  readonly port: number;
  /** Of the requests that take this way, from 0 to 100; absent where a hash of the request decides. */
  readonly sharePercent?: number;
  /** `region/zone/subzone`, "" where it has none. */
  readonly locality: string;
  readonly priority: number;
}

/** Where a way ends. */
export type End =
  | { readonly kind: "endpoints"; readonly cluster: string; readonly endpoints: readonly TracedEndpoint[] }
  /** To where it was going anyway. The address is absent where it is not known. */
  | {
      readonly kind: "original destination";
      readonly cluster: string;
      readonly address?: string;
      readonly port: number;
    }
  | { readonly kind: "redirect"; readonly status: number; readonly location: string }
  | { readonly kind: "response"; readonly status: number; readonly why: string }
  | { readonly kind: "closed"; readonly why: string }
  /** The configuration has something that is not followed here. */
  | { readonly kind: "not known"; readonly why: string };

/** What the upstream gets where it is not what the client wrote. */
export interface Rewritten {
  readonly path?: string;
  readonly authority?: string;
}

/** One way that requests take; there are several where weights or fractions divide them. */
export interface Way {
  /** Of all such requests, above 0 and at most 100. */
  readonly sharePercent: number;
  readonly decisions: readonly Decision[];
  /** What is not known here and has to hold for a request to come this way; else a filter answers it, as its decision says. */
  readonly dependsOn: readonly string[];
  readonly rewritten: Rewritten;
  /** Clusters that get a copy. */
  readonly mirrors: readonly string[];
  readonly end: End;
}

/** What a request meets. */
export interface Trace {
  /** Those that all such requests have in common. */
  readonly decisions: readonly Decision[];
  /** Names of the HTTP filters of the connection manager, in order. */
  readonly httpFilters: readonly string[];
  /** Shares add up to 100. */
  readonly ways: readonly Way[];
}

/** @returns rounded to hundredths */
export const percent = (share: number): number => Math.round(share * 10_000) / 100;
