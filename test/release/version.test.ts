import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const textOf = (file: string) => readFileSync(join(root, file), "utf8");
const { version } = JSON.parse(textOf("package.json"));

it("the lock file, and every image of ours that infra/ names, have the version of package.json", () => {
  const lock = JSON.parse(textOf("package-lock.json"));
  expect([lock.version, lock.packages[""].version]).toEqual([version, version]);
  const files = globSync(["Dockerfile", "infra/*/**/*.{yaml,md}", "infra/*/**/Containerfile"], { cwd: root });
  const named = files.flatMap((file) =>
    [
      ...textOf(file).matchAll(/(?:\bportolan(?:-\w+)?:|newTag: |^(?:appVersion|version): )(\d+\.\d+\.\d[\w.-]*)/gm),
    ].map(([, tag]) => `${file} ${tag}`),
  );
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((line) => !line.endsWith(` ${version}`))).toEqual([]);
});
