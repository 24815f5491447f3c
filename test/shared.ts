import { existsSync } from "node:fs";

/**
 * The folder beside the repository with what is not ours to carry: Istio's samples and benchmark inputs, golden answers of an
 * old release. Tests that import this, or the conformance suites, read more where it is there; `.ci/run` runs most of
 * them in a copy of the repository with nothing beside it.
 */
export const sharedFolder = new URL("../../shared/", import.meta.url);

export const hasShared = existsSync(sharedFolder);
