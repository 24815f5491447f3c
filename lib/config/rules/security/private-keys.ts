const privateKey = "a private key";
const privateJwk = "a JSON Web Key that is not public";
const maxDepth = 100;

/** The heading of a private key in PEM, whatever stands in place of its blanks: a folded line, marks of comments and quotes. */
export const pemHeading = /-----BEGIN(?:[\s\\"'#]+[A-Z0-9]{1,20}){0,8}?[\s\\"'#]+PRIVATE[\s\\"'#]+KEY/;

/** What PEM begins with in base64, whatever lines it is broken into. */
export const pemInBase64 = new RegExp([..."LS0tLS1CRUdJTi"].join("\\s*"));

const base64Texts = new RegExp(`${pemInBase64.source}[A-Za-z0-9+/\\s]*`, "g");

/**
 * What key a text holds that one can sign or decrypt with: in PEM, as it is or in base64, or as a JSON Web Key, alone or among others.
 *
 * @returns words for a message, without anything of the text
 */
export function keyIn(text: string): string | undefined {
  if (holdsPem(text)) return privateKey;
  // Escapes of JSON in JSON could spell any word.
  return /kty|\\u/.test(text) ? (keyInJson(text, 0) ?? writtenJwk(text)) : undefined;
}

/** Members that public keys do not have. @see https://www.rfc-editor.org/rfc/rfc7518#section-6 */
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/** Whether fields are a JSON Web Key that is private or, as `oct`, symmetric. */
export function isPrivateJwk(fields: object): boolean {
  if (!("kty" in fields) || typeof fields.kty !== "string") return false;
  return fields.kty === "oct" || privateMembers.some((name) => Object.hasOwn(fields, name));
}

function holdsPem(text: string): boolean {
  if (text.includes("-----BEGIN") && pemHeading.test(text)) return true;
  return [...text.matchAll(base64Texts)].some(([base64]) => {
    const digits = base64.replace(/\s/g, "");
    return pemHeading.test(atob(digits.slice(0, digits.length - (digits.length % 4))));
  });
}

function keyInJson(text: string, depth: number): string | undefined {
  try {
    return keyInValue(JSON.parse(text), depth);
  } catch {
    return undefined;
  }
}

function keyInValue(value: unknown, depth: number): string | undefined {
  if (depth > maxDepth) return undefined;
  if (typeof value === "string") return holdsPem(value) ? privateKey : keyInJson(value, depth + 1);
  if (typeof value !== "object" || value === null) return undefined;
  if (isPrivateJwk(value)) return privateJwk;
  for (const member of Object.values(value)) {
    const found = keyInValue(member, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A JSON Web Key in a text that is no JSON: YAML, a program, a comment. Its private member is told by its length. */
function writtenJwk(text: string): string | undefined {
  const plain = text.replace(/\\+([nrt]?)/g, (_, escape) => (escape === "" ? "" : " ")).replace(/["'#]/g, "");
  const member = new RegExp(`(?:^|[\\s{,])(?:${privateMembers.join("|")})\\s*:\\s*[\\w-]{16,}`);
  return /\bkty\s*:/.test(plain) && member.test(plain) ? privateJwk : undefined;
}

/** Whether a text is a key set in JSON that holds symmetric keys, and no key that is private otherwise. */
export function isSymmetricKeySet(text: string): boolean {
  try {
    const { keys }: { readonly keys?: unknown } = JSON.parse(text);
    if (!Array.isArray(keys)) return false;
    const others = keys.filter((key) => !isSymmetric(key));
    return others.length < keys.length && keyInValue(others, 0) === undefined;
  } catch {
    return false;
  }
}

/** A key of HS256 and its like, as it is: nothing in it but texts, of which none is a key in another form. */
function isSymmetric(key: unknown): boolean {
  if (typeof key !== "object" || key === null || !("kty" in key) || key.kty !== "oct") return false;
  return Object.entries(key).every(([name, member]) => name === "k" || keyInValue(member, 0) === undefined);
}
