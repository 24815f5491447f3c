/** Fails at once, with the remedy, where the tests run under a Node that the tool chain does not support. */
export function setup(): void {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 22) {
    throw new Error(`tests need Node 22.12 or newer and run under ${process.version}; start them with \`npm test\``);
  }
}
