import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { awsKms } from "../../lib/secrets/aws-kms.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";

const wrapping = makeWrappingKey();
const kms = awsKms({ onWarning: () => {} });
const key = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const wrong = "KEY is not one or two keys of 32 bytes in base64, or aws-kms:<ARN or alias>";

describe("keys that a setting names", () => {
  it.each([
    wrapping,
    `aws-kms:${key}`,
    "aws-kms:arn:aws-us-gov:kms:us-gov-west-1:123456789012:alias/portolan/secrets",
    `aws-kms:alias/portolan\n${wrapping}`,
    ` ${wrapping}  aws-kms:${key.replace(/key.*/, "key/mrk-1234abcd12ab34cd56ef1234567890ab")} `,
  ])("are two at most, in the environment or with AWS KMS: %#", (setting) => {
    expect(() => wrappingKeys(setting, "KEY", kms)).not.toThrow();
  });

  it.each([
    "",
    "short",
    btoa("short"),
    `${wrapping} ${wrapping} ${wrapping}`,
    "n0t base64!",
    "aws-kms:",
    "aws-kms:portolan",
    `aws-kms:${key.replace(":kms:", ":s3:")}`,
    `${wrapping} aws-kms:alias/a aws-kms:alias/b`,
    "gcp-kms:projects/p",
  ])("are nothing else, and a message holds nothing of them: %#", (setting) => {
    expect(() => wrappingKeys(setting, "KEY", kms)).toThrow(new PortolanError(wrong));
  });

  it("are refused where KMS cannot be asked", () => {
    expect(() => wrappingKeys(`aws-kms:${key}`, "KEY")).toThrow("AWS KMS, which cannot be asked from here");
  });
});
