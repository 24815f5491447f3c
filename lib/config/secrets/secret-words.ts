/** Words by which a text is searched for secrets at all, and for which one that cannot be searched is refused. */
import { secretDataSources, secretTexts } from "../rules/security/inline-secrets.ts";
import { keyIn, pemHeading, pemInBase64 } from "../rules/security/private-keys.ts";

/** A field in either spelling. */
const spelt = (name: string) => name.replace(/[A-Z]/g, (letter) => `_*[${letter}${letter.toLowerCase()}]`);
const anyOf = (names: Iterable<string>) => `\\b(?:${[...names].map(spelt).join("|")})\\b`;

/** Escapes and lines broken within a word, which could spell any other word; zeros are of another encoding. */
const disguises = String.raw`\\[uUx]|\\[\r\n]|\0`;
const inlineData = "inline_*(?:[Ss]tring|[Bb]ytes)";
/** A tag of YAML's: `!!binary` is base64 in whatever way it is written, and no reader here knows it. */
const tag = String.raw`![!<%\w]`;
const unreadWords = `${disguises}|${tag}|kty|\\bSecret(?:List)?\\b|string_*[Dd]ata|${anyOf(secretTexts)}`;

/**
 * Whether a text may hold a secret; nearly all may not, and are not read. It may only say no where nothing that is
 * searched for can come to be by any quoting, escaping or folding of JSON and YAML.
 */
export function mayHoldSecret(text: string): boolean {
  return mayHold.some((words) => words.test(text));
}

/** Two passes take a third of the time of one: of more alternatives than there are in each V8 tries every one at every place. */
const mayHold = [
  new RegExp(
    [unreadWords, "Secret|EnvoyFilter|WasmPlugin|TrafficExtension", inlineData, String.raw`PRIVATE[\s\\"'#]+KEY`].join(
      "|",
    ),
  ),
  pemInBase64,
] as const;

const suspicions = [new RegExp(unreadWords), pemHeading] as const;
const inline = new RegExp(inlineData);
const dataSource = new RegExp(anyOf(secretDataSources));

/** Where, if anywhere, a text names what may be a secret; for texts that cannot be read. */
export function suspicionIn(text: string): number | undefined {
  const found = suspicions.map((words) => text.search(words)).filter((at) => at >= 0);
  if (inline.test(text) && dataSource.test(text)) found.push(text.search(dataSource));
  if (keyIn(text) !== undefined) found.push(Math.max(text.search(pemInBase64), 0));
  return found.length === 0 ? undefined : Math.min(...found);
}
