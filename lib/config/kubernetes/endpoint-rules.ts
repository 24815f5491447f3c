import { fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { error, type Finding, type Path } from "../finding.ts";
import { ipFamily, isIpAddress } from "../values/ip-address.ts";
import { duplicateNameRules, numberRules, portNameRules, transportRules } from "./port-rules.ts";

const addressTypes: readonly string[] = ["IPv4", "IPv6", "FQDN"];

/** What the API server refuses of an EndpointSlice. */
export function* endpointSliceRules({ addressType, endpoints, ports }: ParsedObject): Generator<Finding> {
  const type = textOf(addressType);
  if (type !== "" && !addressTypes.includes(type)) {
    yield error(["addressType"], `${JSON.stringify(type)} is none of ${addressTypes.join(", ")}`);
  }
  for (const [index, entry] of listOf(endpoints).entries()) {
    const path = ["endpoints", index, "addresses"];
    const { addresses } = fieldsOf(entry);
    if (listOf(addresses).length === 0) yield error(path, "is required", "", "missing-field");
    for (const [place, address] of listOf(addresses).entries()) {
      if (type === "FQDN") continue;
      const text = textOf(address);
      const fits = isIpAddress(text) && (type === "" || ipFamily(text) === type);
      if (!fits) yield error([...path, place], `${JSON.stringify(text)} is no ${type || "IP"} address`);
    }
  }
  yield* portsRules(ports, ["ports"]);
}

/** What the API server refuses of an Endpoints object. */
export function* endpointsRules({ subsets }: ParsedObject): Generator<Finding> {
  for (const [index, subset] of listOf(subsets).entries()) {
    const { ports, ...lists } = fieldsOf(subset);
    for (const list of ["addresses", "notReadyAddresses"]) {
      for (const [place, entry] of listOf(lists[list]).entries()) {
        const ip = textOf(fieldsOf(entry).ip);
        if (!isIpAddress(ip))
          yield error(["subsets", index, list, place, "ip"], `${JSON.stringify(ip)} is no IP address`);
      }
    }
    yield* portsRules(ports, ["subsets", index, "ports"]);
  }
}

function* portsRules(ports: unknown, path: Path): Generator<Finding> {
  for (const [index, entry] of listOf(ports).entries()) {
    const { name, port, protocol } = fieldsOf(entry);
    yield* numberRules(port, [...path, index, "port"]);
    yield* transportRules(protocol, [...path, index, "protocol"]);
    yield* portNameRules(name, [...path, index, "name"]);
  }
  yield* duplicateNameRules(ports, path);
}
