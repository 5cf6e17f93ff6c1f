import type { LocalOutputs } from '../support/local-run.ts';

/** Calls a run in the name of its demo client and admin. Throws when an answer is no success. */
export function makeCaller({ AuthUrl, BaseUrl, Demo }: LocalOutputs) {
  const token = async (parameters: Record<string, string>) => {
    const body = new URLSearchParams({ ...parameters, client_id: Demo.ClientId, client_secret: Demo.ClientSecret });
    const response = await fetch(`${AuthUrl}/oauth/v1/token`, { method: 'POST', body });
    if (!response.ok) throw new Error(`The token endpoint answered ${response.status}.`);
    return (await response.json()) as Tokens;
  };
  return {
    login: () => token({ grant_type: 'password', username: Demo.Username, password: Demo.Password }),
    refresh: (refreshToken: string) => token({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    register: async (accessToken: string, eventName: string, url: string) => {
      const response = await fetch(`${BaseUrl}/v1/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ evento: eventName, url, autorizacao: 'Bearer the-receivers-own-secret' }),
      });
      if (!response.ok) throw new Error(`The webhooks API answered ${response.status}.`);
    },
  };
}

/** What a token response says, as far as anybody asks. */
interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
