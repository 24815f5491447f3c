import { error, type Finding, type Path } from "../../finding.ts";

/** Checks of single values of an AuthorizationPolicy, wherever they stand: in a source, an operation or a condition. */
export function* serviceAccountRules(account: string, path: Path): Generator<Finding> {
  if (account.includes("*"))
    yield error(path, `wildcards are not supported in service accounts: ${JSON.stringify(account)}`);
  if (account.length > 320) yield error(path, "is longer than 320 characters");
  const parts = account.split("/");
  if (parts.length > 2 || parts.includes(""))
    yield error(path, `${JSON.stringify(account)} is neither name nor namespace/name`);
}

export function* trustDomainRules(domain: string, path: Path): Generator<Finding> {
  const inner = domain.slice(1, -1);
  const stars = domain.split("*").length - 1;
  if (inner.includes("*") || stars > 1) {
    yield error(path, `${JSON.stringify(domain)}: one wildcard is allowed, at the start or the end`);
  }
  if (domain.includes("/")) yield error(path, `${JSON.stringify(domain)} must not have a slash`);
}

/** Ports are texts, from 0 to 65535. */
export function* portTextRules(port: string, path: Path): Generator<Finding> {
  const isPort = /^\d{1,5}$/.test(port) && Number(port) <= 65535;
  if (!isPort) yield error(path, `${JSON.stringify(port)} is not a port`, "write a number from 1 to 65535");
}

/** One with a wildcard in front becomes a regular expression, and Envoy refuses a listener for one that is too large. */
export function* principalRules(principal: string, path: Path): Generator<Finding> {
  if (principal.startsWith("*") && principal.length > 1024) yield error(path, "is longer than 1024 characters");
}

/** Envoy refuses a listener for another name. */
export function* headerNameRules(name: string, path: Path): Generator<Finding> {
  if (!/^:?[0-9a-zA-Z!#$%&'*+\-.^_|~`]+$/.test(name)) yield error(path, `${JSON.stringify(name)} is not a header name`);
}
