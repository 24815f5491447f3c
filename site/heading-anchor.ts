/**
 * Anchor of a heading, as GitHub makes it: links in pages lead there, in the repository and on the site.
 *
 * @param heading its text, without the marks of its level
 */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
