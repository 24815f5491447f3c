import { describe, expect, it } from "vitest";
import { hasRepeatedName } from "../../../lib/config/documents/json-names.ts";

describe("names in a JSON text", () => {
  it.each([
    ['{"a":1,"a":2}', true],
    ['{"a":1,"\\u0061":2}', true],
    ['{"a":{"b":1},"c":[{"b":1},{"b":2,"b":3}]}', true],
    ['{"a":[1,2],"a":[]}', true],
    ['{"a":"a","b":"a"}', false],
    ['{"a":["a","a"],"b":{"a":1}}', false],
    ['{"a":"\\"","b":"{\\"b\\":1,\\"b\\":2}"}', false],
    ['{"a\\\\":1,"a":2}', false],
    ["[]", false],
  ])("%s: %s", (text, isRepeated) => {
    JSON.parse(text);
    expect(hasRepeatedName(text)).toBe(isRepeated);
  });
});
