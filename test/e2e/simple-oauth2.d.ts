// The types of simple-oauth2 that the tests use. The package has no types.
declare module 'simple-oauth2' {
  interface AccessToken {
    readonly token: { readonly access_token: string; readonly refresh_token: string; readonly scope?: string };
    expired(windowSeconds?: number): boolean;
    refresh(parameters?: { readonly scope?: string }): Promise<AccessToken>;
    revokeAll(): Promise<void>;
  }
  export class ResourceOwnerPassword {
    constructor(configuration: object);
    getToken(parameters: { username: string; password: string; scope?: string[] }): Promise<AccessToken>;
  }
}
