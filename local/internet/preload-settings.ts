/** What the preload of a function process is told; it travels in the module's own URL. */
export interface PreloadSettings {
  /** Where connections to mapped names land. */
  readonly terminatorPort: number;
  /** Pairs of name and port, as below. */
  readonly builtIn: readonly (readonly [string, number])[];
  readonly mappings: readonly (readonly [string, number])[];
  readonly hostsFile?: string;
}
