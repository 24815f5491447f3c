/** Whether what lies below is nobody's configuration: what tools keep, and packages, which bring samples of theirs. */
export const isPassedOver = (name: string): boolean => name.startsWith(".") || name === "node_modules";

/** Systems that do not tell letters apart make names such as `deny.YAML`: nothing of it may be passed over without a word. */
export const isConfigFile = (name: string): boolean => /\.(?:ya?ml|json)$/i.test(name);
