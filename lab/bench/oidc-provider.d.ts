// The parts of oidc-provider that the comparison uses; the package carries no types.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Context {
    readonly oidc: {
      readonly client: { readonly clientId: string };
      readonly params: Record<string, string>;
      entity(name: string, value: unknown): void;
    };
    body: unknown;
  }
  interface Model {
    scope: string;
    resourceServer: unknown;
    readonly expiration: number;
    readonly tokenType: string;
    addResourceScope(resource: string, scope: string): void;
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }
  type ModelConstructor = new (values: object) => Model;

  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: ModelConstructor;
    readonly AccessToken: ModelConstructor;
    readonly RefreshToken: ModelConstructor;
    readonly ResourceServer: new (
      identifier: string,
      data: object,
    ) => unknown;
    registerGrantType(name: string, handler: (context: Context) => Promise<void>, parameters: string[]): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
  export const errors: { readonly InvalidGrant: new (message: string) => Error };
}
