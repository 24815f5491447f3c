import { fieldsOf, listOf, numberOf, stringsOf, textOf } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { error, type Finding, type Path } from "../finding.ts";
import { isFqdn } from "../rules/names.ts";
import { labelSetRules } from "../rules/values.ts";
import { isIpAddress } from "../values/ip-address.ts";
import {
  containerPortNameRules,
  duplicateNameRules,
  numberRules,
  portNameRules,
  transportRules,
} from "./port-rules.ts";

const choices: Readonly<Record<string, readonly string[]>> = {
  type: ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"],
  sessionAffinity: ["None", "ClientIP"],
  internalTrafficPolicy: ["Cluster", "Local"],
  externalTrafficPolicy: ["Cluster", "Local"],
  ipFamilyPolicy: ["SingleStack", "PreferDualStack", "RequireDualStack"],
};

/** What the API server refuses of a Service, as far as it needs to know nothing else. */
export function* serviceRules({ spec: written }: ParsedObject): Generator<Finding> {
  const spec = fieldsOf(written);
  for (const [field, known] of Object.entries(choices)) {
    const value = textOf(spec[field]);
    if (value !== "" && !known.includes(value)) {
      yield error(["spec", field], `${JSON.stringify(value)} is none of ${known.join(", ")}`);
    }
  }
  yield* addressRules(spec);
  if (spec.type === "ExternalName" && !isFqdn(textOf(spec.externalName))) {
    yield error(["spec", "externalName"], `${JSON.stringify(textOf(spec.externalName))} is no host name`);
  }
  yield* labelSetRules(stringsOf(spec.selector), ["spec", "selector"]);
  yield* portsRules(listOf(spec.ports));
}

function* addressRules(spec: Readonly<Record<string, unknown>>): Generator<Finding> {
  const own = textOf(spec.clusterIP);
  if (own !== "" && own !== "None") yield* ipRules(own, ["spec", "clusterIP"]);
  for (const list of ["clusterIPs", "externalIPs"]) {
    for (const [index, address] of listOf(spec[list]).entries()) {
      if (address !== "None") yield* ipRules(textOf(address), ["spec", list, index]);
    }
  }
}

function* ipRules(text: string, path: Path): Generator<Finding> {
  if (!isIpAddress(text)) yield error(path, `${JSON.stringify(text)} is no IP address`);
}

function* portsRules(ports: readonly unknown[]): Generator<Finding> {
  const path = ["spec", "ports"];
  const seen = new Map<string, number>();
  for (const [index, entry] of ports.entries()) {
    const { name, port, protocol, targetPort, nodePort } = fieldsOf(entry);
    const here = [...path, index];
    if (port === undefined || port === null) yield error([...here, "port"], "is required", "", "missing-field");
    yield* numberRules(port, [...here, "port"]);
    if (nodePort !== 0) yield* numberRules(nodePort, [...here, "nodePort"]);
    if (typeof targetPort === "number") yield* numberRules(targetPort, [...here, "targetPort"]);
    else yield* containerPortNameRules(targetPort, [...here, "targetPort"]);
    yield* transportRules(protocol, [...here, "protocol"]);
    yield* portNameRules(name, [...here, "name"]);
    if (ports.length > 1 && textOf(name) === "") {
      yield error([...here, "name"], "is required", "ports have names where there are several", "missing-field");
    }
    const key = `${textOf(protocol) || "TCP"} ${numberOf(port)}`;
    const earlier = seen.get(key);
    if (earlier !== undefined) yield error([...here, "port"], `${key} is the port of spec.ports[${earlier}]`);
    else seen.set(key, index);
  }
  yield* duplicateNameRules(ports, path);
}
