import { describe, expect, it } from "vitest";
import { formatProblem } from "../../lib/config/format-commands.ts";

describe("the value of a header", () => {
  it.each([
    "",
    "plain",
    "100%%",
    "%REQ(x-request-id)%",
    "%REQ(:path?x-envoy-original-path):10%",
    '%DYNAMIC_METADATA(["com.test.my_filter", "test_key"])%',
    "%DYNAMIC_METADATA(com.test.my_filter:test_key)%",
    "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT% by %PROTOCOL%",
    "%START_TIME(%s.%3f)%",
    "%START_TIME%",
    "%GRPC_STATUS(CAMEL_STRING)%",
    "%PATH(NQ):20%",
    "%HOSTNAME()%",
  ])("is read by Envoy: %s", (value) => {
    expect(formatProblem(value)).toBeUndefined();
  });

  it.each([
    ["100%", "has a percent sign that begins no variable"],
    ["%req(x)%", "has a percent sign that begins no variable"],
    ["%REQ(x):y%", "has a percent sign that begins no variable"],
    ["%BAD%", "has %BAD%, which Envoy does not know"],
    ["a %BAD(x):3% b", "has %BAD%, which Envoy does not know"],
    ["%REQ%", "has %REQ% without what it takes in parentheses"],
    ["%ENVIRONMENT()%", "has %ENVIRONMENT% without what it takes in parentheses"],
    ["%PROTOCOL(x)%", "has %PROTOCOL% with parentheses, and it takes none"],
    ["%PROTOCOL:3%", "has %PROTOCOL% with a length, and it takes none"],
    ["%constructor%", "has a percent sign that begins no variable"],
  ])("is refused by Envoy: %s", (value, problem) => {
    expect(formatProblem(value)).toBe(problem);
  });

  it("of any length is judged in a moment", () => {
    const beganMs = performance.now();
    for (const piece of ["%REQ(", "%", "%%", '%DYNAMIC_METADATA(["', "%A"])
      formatProblem(piece.repeat(20_000 / piece.length));
    expect(performance.now() - beganMs).toBeLessThan(1_000);
  });
});
