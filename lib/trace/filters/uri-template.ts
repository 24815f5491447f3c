/** What RE2 calls each part: Envoy matches templates by such an expression. */
const segment = "[a-zA-Z0-9\\-._~%!$&'()+,;:@=]+";
const anything = "[a-zA-Z0-9\\-._~%!$&'()+,;:@=/]*";

/**
 * A path template, `/a/{name=*}/**`, as a regular expression of RE2's dialect for a whole path without its query.
 *
 * @see envoy 1.40.0 source/extensions/path/uri_template_lib/uri_template_internal.cc
 */
export function templateExpression(template: string): string {
  return template
    .replaceAll(/\{[^{}=]*\}/g, "*")
    .replaceAll(/\{[^{}=]*=([^{}]*)\}/g, "$1")
    .split(/(\*{1,2})/)
    .map((part) => (part === "**" ? anything : part === "*" ? segment : part.replaceAll(/[\\.+?()|[\]{}^$]/g, "\\$&")))
    .join("");
}
