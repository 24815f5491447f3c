import { fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { error, type Finding, type Path } from "../finding.ts";
import { isIpAddress } from "../values/ip-address.ts";
import { containerPortNameRules, duplicateNameRules, isLowerLabel, numberRules, transportRules } from "./port-rules.ts";

/** What the API server refuses of a Pod, in the parts that a mesh reads. */
export function podRules({ spec, status }: ParsedObject): readonly Finding[] {
  const { podIP, podIPs } = fieldsOf(status);
  const findings = podSpecRules(spec, ["spec"]);
  if (!isAddress(podIP)) findings.push(noAddress(podIP, ["status", "podIP"]));
  for (const [index, entry] of listOf(podIPs).entries()) {
    const { ip } = fieldsOf(entry);
    if (!isAddress(ip)) findings.push(noAddress(ip, ["status", "podIPs", index, "ip"]));
  }
  return findings;
}

/** Whether it is one, or there is none. */
const isAddress = (value: unknown): boolean => textOf(value) === "" || isIpAddress(textOf(value));

const noAddress = (value: unknown, path: Path): Finding => error(path, `${JSON.stringify(value)} is no IP address`);

const containerLists = ["containers", "initContainers"] as const;

/** Of a pod, or of the template of one. @returns a list of its own */
export function podSpecRules(spec: unknown, path: Path): Finding[] {
  const findings: Finding[] = [];
  const names = new Set<string>();
  for (const list of containerLists) {
    for (const [index, container] of listOf(fieldsOf(spec)[list]).entries()) {
      const { name, ports } = fieldsOf(container);
      const text = textOf(name);
      const here = () => [...path, list, index];
      if (text !== "" && !isLowerLabel(text)) {
        findings.push(error([...here(), "name"], `${JSON.stringify(text)} is no DNS label`));
      }
      if (text !== "" && names.has(text)) {
        findings.push(error([...here(), "name"], `${JSON.stringify(text)} is the name of an earlier container`));
      }
      names.add(text);
      if (listOf(ports).length === 0) continue;
      for (const finding of containerPortsRules(ports, [...here(), "ports"])) findings.push(finding);
    }
  }
  return findings;
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
