import { describe, expect, it } from "vitest";
import { meantText, nearestNames } from "../../lib/config/nearest-names.ts";

const known = ["web-1.shop", "web-2.shop", "reviews-1.books", "outbound|80||reviews.books.svc.cluster.local"];

describe("nearestNames", () => {
  it.each([
    { written: "web-1.shp", want: ["web-1.shop", "web-2.shop"] },
    { written: "reviews", want: ["reviews-1.books", "outbound|80||reviews.books.svc.cluster.local"] },
    { written: "WEB-2.shop", want: ["web-2.shop", "web-1.shop"] },
    { written: "zzzzzz", want: [] },
    { written: "", want: [] },
    { written: "x".repeat(100_000), want: [] },
  ])("finds for $written what was probably meant", ({ written, want }) => {
    expect(nearestNames(written, known)).toEqual(want);
  });

  it("asks whether the nearest was meant, and says nothing where none is near", () => {
    expect(meantText("web", known)).toBe("; did you mean web-1.shop or web-2.shop?");
    expect(meantText("zzzzzz", known)).toBe("");
  });
});
