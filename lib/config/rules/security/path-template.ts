import { error, type Finding, type Path } from "../../finding.ts";

/** Envoy refuses a longer template, with the whole listener: `path_template` of UriTemplateMatchConfig. */
const maxTemplate = 256;

const literal = /^[A-Za-z0-9\-._~%!$&'()+,;:@=]*$/;

/**
 * `{*}` stands for one segment, `{**}` for any rest; plain paths may have a wildcard at either end.
 * @see docs/how-istio-does-it/kind-rules.md#path-templates
 */
export function* pathTemplateRules(path: string, at: Path): Generator<Finding> {
  if (!path.includes("{") && !path.includes("}")) return;
  const text = JSON.stringify(path.length > maxTemplate ? `${path.slice(0, maxTemplate)}...` : path);
  let rest = false;
  for (const segment of path.split("/").slice(1)) {
    const template = segment === "{*}" || segment === "{**}";
    if (template && rest) yield error(at, `${text}: nothing with braces may follow {**}`);
    if (segment === "{**}") rest = true;
    if (template) continue;
    if (segment.includes("{") || segment.includes("}")) yield error(at, `${text}: braces are for {*} and {**} only`);
    else if (!literal.test(segment))
      yield error(at, `${text}: ${JSON.stringify(segment)} is not allowed in a path with {*} or {**}`);
  }
  if (!path.startsWith("/")) yield error(at, `${text}: a template begins with a slash`);
  if (uriTemplate(path).length > maxTemplate)
    yield error(at, `is a template of more than ${maxTemplate} characters, which Envoy refuses`, "write a shorter one");
}

/** A template as Envoy writes it. */
export const uriTemplate = (path: string): string => path.replaceAll("{*}", "*").replaceAll("{**}", "**");
