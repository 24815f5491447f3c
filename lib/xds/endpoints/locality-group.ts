import type { LocalityJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type {
  LbEndpointJson,
  LocalityLbEndpointsJson,
} from "../../../gen/envoy/config/endpoint/v3/endpoint_components_pb.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import type { Endpoint } from "../../registry/service.ts";
import { lbEndpoint } from "./lb-endpoint.ts";

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

/** Makes each member once, however many clusters and classes an endpoint is in. */
export type MemberPool = (endpoint: Endpoint, mtls: boolean) => Member;

/** A pool for the endpoints of one service, to live as long as they do. */
export function createMemberPool(): MemberPool {
  const pool = new Map<Endpoint, Member>();
  return (endpoint, mtls) => {
    const known = pool.get(endpoint);
    if (known?.mtls === mtls) return known;
    const member = { labels: endpoint.labels, endpoint, mtls, json: lbEndpoint(endpoint, mtls) };
    pool.set(endpoint, member);
    return member;
  };
}

/** Splits endpoints by locality; groups are sorted by locality text, members keep their order. */
export function groupByLocality(
  endpoints: readonly Endpoint[],
  takesMtls: (endpoint: Endpoint) => boolean,
  memberOf: MemberPool,
): readonly LocalityGroup[] {
  const byLocality = new Map<string, Member[]>();
  for (const endpoint of endpoints) {
    const member = memberOf(endpoint, takesMtls(endpoint));
    const members = byLocality.get(endpoint.locality.label);
    if (members === undefined) byLocality.set(endpoint.locality.label, [member]);
    else members.push(member);
  }
  const groups: LocalityGroup[] = [];
  for (const [locality, members] of byLocality) {
    groups.push({ locality, members, weight: totalWeight(members), priority: 0 });
  }
  return groups.sort((a, b) => byCodePoint(a.locality, b.locality));
}

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
