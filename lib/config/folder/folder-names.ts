/** Whether what lies below is nobody's configuration: what tools keep, and packages, which bring samples of theirs. */
export const isPassedOver = (name: string): boolean => name.startsWith(".") || name === "node_modules";

export const isConfigFile = (name: string): boolean => /\.(?:ya?ml|json)$/.test(name);
