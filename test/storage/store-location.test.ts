import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { isFolder, prefixIn, readStoreLocation } from "../../lib/storage/store-location.ts";

describe("readStoreLocation", () => {
  it.each([
    ["mesh-store", { kind: "folder", path: "mesh-store" }],
    ["./s3://mesh", { kind: "folder", path: "./s3://mesh" }],
    ["C:\\mesh", { kind: "folder", path: "C:\\mesh" }],
    ["s3://mesh", { kind: "s3", bucket: "mesh", prefix: "" }],
    ["s3://mesh/prod/", { kind: "s3", bucket: "mesh", prefix: "prod/" }],
    [
      "s3://mesh/prod/eu?region=eu-west-1&endpoint=http://127.0.0.1:9000",
      { kind: "s3", bucket: "mesh", prefix: "prod/eu/", region: "eu-west-1", endpoint: "http://127.0.0.1:9000" },
    ],
    ["gs://mesh/prod", { kind: "gs", bucket: "mesh", prefix: "prod/" }],
    ["az://account/mesh", { kind: "az", account: "account", container: "mesh", prefix: "" }],
    [
      "az://account/mesh/prod/?endpoint=http://127.0.0.1:10000/account",
      {
        kind: "az",
        account: "account",
        container: "mesh",
        prefix: "prod/",
        endpoint: "http://127.0.0.1:10000/account",
      },
    ],
  ])("reads %s", (where, want) => {
    expect(readStoreLocation(where)).toEqual(want);
    expect(isFolder(where)).toBe(want.kind === "folder");
  });

  const accepted =
    "Use a folder (./mesh), s3://BUCKET/PREFIX (Amazon S3, R2, or a server with the S3 API), gs://BUCKET/PREFIX (Google Cloud Storage) or az://ACCOUNT/CONTAINER/PREFIX (Azure Blob Storage).";

  it.each([
    ["s3://", "s3://BUCKET/PREFIX (Amazon S3, R2, or a server with the S3 API)"],
    ["s3:///prod", "s3://BUCKET/PREFIX (Amazon S3, R2, or a server with the S3 API)"],
    ["s3:mesh", "s3://BUCKET/PREFIX (Amazon S3, R2, or a server with the S3 API)"],
    ["gs://", "gs://BUCKET/PREFIX (Google Cloud Storage)"],
    ["az://account", "az://ACCOUNT/CONTAINER/PREFIX (Azure Blob Storage)"],
    ["az://account/", "az://ACCOUNT/CONTAINER/PREFIX (Azure Blob Storage)"],
  ])("refuses %s with how a URL of that scheme is written, and no other", (where, form) => {
    expect(() => readStoreLocation(where)).toThrow(
      new PortolanError(`${where} is no store. Write ${form}; only PREFIX may be left out.`),
    );
  });

  it.each(["S3://mesh", "htp://x", "ftp:x"])("refuses %s with what is accepted", (where) => {
    expect(() => readStoreLocation(where)).toThrow(
      `${where} is no store. ${accepted} For a folder of that name write ./${where}.`,
    );
  });

  it.each([
    ["", "an empty text is no store. Use a folder (./mesh), "],
    [
      "https://account.blob.core.windows.net/mesh/prod?sig=secret",
      "https://account.blob.core.windows.net/mesh/prod is no store.",
    ],
    ["https://account.blob.core.windows.net/mesh/prod", "This container is written az://account/mesh/prod."],
    ["https://mesh.example", "The URL of a compile function goes to apply, get,"],
    [
      "s3://mesh?profile=a",
      "s3://mesh: s3://BUCKET/PREFIX has no parameter profile; it accepts ?region= and ?endpoint=",
    ],
    ["gs://mesh?region=a", "gs://mesh: gs://BUCKET/PREFIX has no parameter region, and no other"],
    ["az://account/mesh?sig=secret", "az://account/mesh: az://ACCOUNT/CONTAINER/PREFIX has no parameter sig;"],
  ])("says of %s what to write", (where, want) => {
    expect(() => readStoreLocation(where)).toThrow(want);
    expect(() => readStoreLocation(where)).not.toThrow("secret");
  });

  it("names only the kinds that are accepted where it is asked", () => {
    expect(readStoreLocation("s3://mesh", ["s3"]).bucket).toBe("mesh");
    expect(() => readStoreLocation("gs://mesh", ["s3"])).toThrow(
      /^gs:\/\/mesh is no store\. Use s3:\/\/BUCKET\/PREFIX \(Amazon S3, R2, or a server with the S3 API\)\.$/,
    );
  });
});

describe("prefixIn", () => {
  it.each([
    [undefined, ""],
    ["", ""],
    ["/", ""],
    ["prod", "prod/"],
    ["prod/", "prod/"],
    ["mesh/prod//", "mesh/prod/"],
  ])("reads %j as a folder of the bucket", (text, want) => {
    expect(prefixIn("PREFIX", text)).toBe(want);
  });

  it.each(["/prod", "mesh//prod", "a/b/c/d/e/f", "x".repeat(101)])("refuses %j by the name of the setting", (text) => {
    expect(() => prefixIn("PREFIX", text)).toThrow(
      `PREFIX is ${JSON.stringify(text)}; it is empty, or a folder of the bucket, like "prod" or "mesh/prod"`,
    );
  });
});
