/**
 * Most of a NACK's text that is compared with names, in characters. Envoy cuts its own text at 4,096 and adds `...(truncated)`.
 *
 * @see https://github.com/envoyproxy/envoy/blob/main/source/common/config/utility.cc `truncateGrpcStatusMessage`
 */
export const maxErrorLength = 4_200;

/** Ends of words that are tried for each beginning of a word: names such as `kubernetes://shop` are made of several words. */
const maxWords = 8;

/**
 * The names that a text mentions. A mention stands by itself: `a` is not mentioned by `a-b`, `a|b` or `a.b`, but by `a.` at the end
 * of a sentence.
 *
 * The work follows the length of the text, of which `maxErrorLength` characters count, and the number of names.
 *
 * @returns the mentioned names in the order of `names`
 */
export function mentionedNames(text: string, names: readonly string[]): readonly string[] {
  const wanted = new Set(names);
  const found = new Set<string>();
  for (const mention of mentionsIn(text)) if (wanted.has(mention)) found.add(mention);
  return found.size === 0 ? [] : names.filter((name) => found.has(name));
}

/** Every part of a text that may be a name: from the beginning of a word to one of the next ends of words. */
export function* mentionsIn(whole: string): Generator<string> {
  const text = whole.slice(0, maxErrorLength);
  const ends: number[] = [];
  for (let at = 1; at <= text.length; at += 1) if (isEnd(text, at)) ends.push(at);
  let next = 0;
  for (let start = 0; start < text.length; start += 1) {
    if (start > 0 && isNamePart(text.charCodeAt(start - 1))) continue;
    while ((ends[next] ?? text.length) <= start && next < ends.length) next += 1;
    for (const end of ends.slice(next, next + maxWords)) yield text.slice(start, end);
  }
}

/** Whether a name may end before a position: what follows is no part of a name, or a dot that ends a sentence. */
function isEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === dot ? !isWordPart(text.charCodeAt(at + 1)) : !isNamePart(code);
}

const [dot, minus, bar, underscore] = [0x2e, 0x2d, 0x7c, 0x5f];

/** Letters, figures and `_`; false for NaN, which stands behind the end of a text. */
const isWordPart = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === underscore;

/** What stands in most names of Envoy's resources: `outbound|80|v1|reviews.shop.svc.cluster.local`, `0.0.0.0_80`. */
const isNamePart = (code: number): boolean => isWordPart(code) || code === minus || code === bar || code === dot;
