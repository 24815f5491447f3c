import type { LocalityJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type {
  LbEndpointJson,
  LocalityLbEndpointsJson,
} from "../../../gen/envoy/config/endpoint/v3/endpoint_components_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { Endpoint } from "../../registry/service.ts";
import { createMetadataPool, lbEndpoint } from "./lb-endpoint.ts";

/** Largest weight that fits Envoy's field. */
export const maxWeight = 4294967295;

/** One endpoint of a group, with what later steps ask of it. */
export interface Member {
  readonly labels: Readonly<Record<string, string>>;
  /** undefined for a gateway that stands for endpoints of its network. */
  readonly endpoint: Endpoint | undefined;
  readonly mtls: boolean;
  readonly json: LbEndpointJson;
}

/** Endpoints of one locality and priority, as far as the steps have come. */
export interface LocalityGroup {
  /** `region/zone/subzone`, "" when unknown. */
  readonly locality: string;
  readonly members: readonly Member[];
  /** undefined: nothing is left in it. */
  readonly weight: number | undefined;
  readonly priority: number;
}

export function weightOfMember(member: Member): number {
  const weight = member.json.loadBalancingWeight;
  return typeof weight === "number" ? weight : 1;
}

/** Sum of the members' weights, clipped; undefined for none. */
export function totalWeight(members: readonly Member[]): number | undefined {
  if (members.length === 0) return undefined;
  let sum = 0;
  for (const member of members) sum += weightOfMember(member);
  return Math.min(maxWeight, sum);
}

/** The endpoints of one service, by locality, and what they are as members: made once for all clusters and classes. */
export interface MemberPool {
  /** In order of locality text, else of arrival. */
  readonly endpoints: readonly Endpoint[];
  /** @param index in `endpoints` */
  memberAt(index: number, mtls: boolean): Member;
}

const byLocalityLabel = (a: Endpoint, b: Endpoint): number => byCodePoint(a.locality.label, b.locality.label);

/** A pool to live as long as the endpoints do. */
export function createMemberPool(arrived: readonly Endpoint[]): MemberPool {
  const label = arrived[0]?.locality.label;
  const endpoints = arrived.every(({ locality }) => locality.label === label)
    ? arrived
    : arrived.toSorted(byLocalityLabel);
  const known = new Array<Member | undefined>(endpoints.length);
  const metadataOf = createMetadataPool();
  return {
    endpoints,
    memberAt: (index, mtls) => {
      let member = known[index];
      if (member?.mtls === mtls) return member;
      const endpoint = endpoints[index];
      if (endpoint === undefined) throw new Error(`no endpoint ${index} in this pool`);
      member = { labels: endpoint.labels, endpoint, mtls, json: lbEndpoint(endpoint, mtls, metadataOf) };
      known[index] = member;
      return member;
    },
  };
}

/** Splits members that are in order of their localities. */
export function groupByLocality(members: readonly Member[]): readonly LocalityGroup[] {
  const groups: LocalityGroup[] = [];
  for (let start = 0, end = 0; start < members.length; start = end) {
    const locality = localityOf(members[start]);
    while (end < members.length && localityOf(members[end]) === locality) end++;
    const group = start === 0 && end === members.length ? members : members.slice(start, end);
    groups.push({ locality, members: group, weight: totalWeight(group), priority: 0 });
  }
  return groups;
}

const localityOf = (member: Member | undefined): string => member?.endpoint?.locality.label ?? "";

/** Envoy's form of `region/zone/subzone`. */
function localityJson(text: string): LocalityJson {
  const [region = "", zone = "", subZone = ""] = text.split("/");
  return {
    ...(region === "" ? {} : { region }),
    ...(zone === "" ? {} : { zone }),
    ...(subZone === "" ? {} : { subZone }),
  };
}

/** Makes each locality once. */
export type LocalityPool = (text: string) => LocalityJson;

export function createLocalityPool(): LocalityPool {
  const pool = new Map<string, LocalityJson>();
  return (text) => {
    let json = pool.get(text);
    if (json === undefined) {
      json = localityJson(text);
      pool.set(text, json);
    }
    return json;
  };
}

/** A group without members is written without them: it keeps its place among the localities. */
export function groupJson(group: LocalityGroup, localityOf: LocalityPool): LocalityLbEndpointsJson {
  const json: LocalityLbEndpointsJson = { locality: localityOf(group.locality) };
  if (group.members.length > 0) json.lbEndpoints = group.members.map((member) => member.json);
  if (group.weight !== undefined) json.loadBalancingWeight = group.weight;
  if (group.priority !== 0) json.priority = group.priority;
  return json;
}
