/**
 * What a browser is told of the console's files, by the front and, at the edge, by the static assets: scripts and styles are files of
 * this origin, nothing else is asked, nobody frames it, and text never becomes markup. Without imports: its build reads it too.
 */
export const shellHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
