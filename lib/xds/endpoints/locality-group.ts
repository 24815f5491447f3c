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
  return Math.min(
    maxWeight,
    members.reduce((sum, member) => sum + weightOfMember(member), 0),
  );
}

/** Splits endpoints by locality; groups are sorted by locality text, members keep their order. */
export function groupByLocality(
  endpoints: readonly Endpoint[],
  takesMtls: (endpoint: Endpoint) => boolean,
): readonly LocalityGroup[] {
  const byLocality = new Map<string, Member[]>();
  for (const endpoint of endpoints) {
    const mtls = takesMtls(endpoint);
    const member = { labels: endpoint.labels, endpoint, mtls, json: lbEndpoint(endpoint, mtls) };
    const members = byLocality.get(endpoint.locality.label);
    if (members === undefined) byLocality.set(endpoint.locality.label, [member]);
    else members.push(member);
  }
  return [...byLocality]
    .map(([locality, members]) => ({ locality, members, weight: totalWeight(members), priority: 0 }))
    .sort((a, b) => byCodePoint(a.locality, b.locality));
}

/** Envoy's form of `region/zone/subzone`. */
export function localityJson(text: string): LocalityJson {
  const [region = "", zone = "", subZone = ""] = text.split("/");
  return {
    ...(region === "" ? {} : { region }),
    ...(zone === "" ? {} : { zone }),
    ...(subZone === "" ? {} : { subZone }),
  };
}

/** A group without members is written without them: it keeps its place among the localities. */
export function groupJson(group: LocalityGroup): LocalityLbEndpointsJson {
  return {
    locality: localityJson(group.locality),
    ...(group.members.length === 0 ? {} : { lbEndpoints: group.members.map((member) => member.json) }),
    ...(group.weight === undefined ? {} : { loadBalancingWeight: group.weight }),
    ...(group.priority === 0 ? {} : { priority: group.priority }),
  };
}
