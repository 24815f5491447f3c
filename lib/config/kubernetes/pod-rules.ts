import type { ParsedObject } from "../documents/parse.ts";
import { error, type Finding, type Path } from "../finding.ts";
import { isIpAddress } from "../ip-address.ts";
import { fieldsOf, listOf, textOf } from "../untyped.ts";
import { containerPortNameRules, duplicateNameRules, isLowerLabel, numberRules, transportRules } from "./port-rules.ts";

/** What the API server refuses of a Pod, in the parts that a mesh reads. */
export function* podRules({ spec, status }: ParsedObject): Generator<Finding> {
  yield* podSpecRules(spec, ["spec"]);
  const { podIP, podIPs } = fieldsOf(status);
  yield* ipRules(podIP, ["status", "podIP"]);
  for (const [index, entry] of listOf(podIPs).entries()) {
    yield* ipRules(fieldsOf(entry).ip, ["status", "podIPs", index, "ip"]);
  }
}

function* ipRules(value: unknown, path: Path): Generator<Finding> {
  const text = textOf(value);
  if (text !== "" && !isIpAddress(text)) yield error(path, `${JSON.stringify(text)} is no IP address`);
}

/** Of a pod, or of the template of one. */
export function* podSpecRules(spec: unknown, path: Path): Generator<Finding> {
  const names = new Set<string>();
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of listOf(fieldsOf(spec)[list]).entries()) {
      const here = [...path, list, index];
      const { name, ports } = fieldsOf(container);
      const text = textOf(name);
      if (text !== "" && !isLowerLabel(text)) yield error([...here, "name"], `${JSON.stringify(text)} is no DNS label`);
      if (text !== "" && names.has(text)) {
        yield error([...here, "name"], `${JSON.stringify(text)} is the name of an earlier container`);
      }
      names.add(text);
      yield* containerPortsRules(ports, [...here, "ports"]);
    }
  }
}

function* containerPortsRules(ports: unknown, path: Path): Generator<Finding> {
  for (const [index, entry] of listOf(ports).entries()) {
    const { name, containerPort, protocol } = fieldsOf(entry);
    if (containerPort === undefined || containerPort === null) {
      yield error([...path, index, "containerPort"], "is required", "", "missing-field");
    }
    yield* numberRules(containerPort, [...path, index, "containerPort"]);
    yield* transportRules(protocol, [...path, index, "protocol"]);
    if (name !== "") yield* containerPortNameRules(name, [...path, index, "name"]);
  }
  yield* duplicateNameRules(ports, path);
}
