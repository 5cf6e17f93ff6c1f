import { fillIn, type Values, type ValuesParameter } from '../text-template.ts';

/** The maximum length of a webhook's URL in characters. */
export const maximumUrlLength = 2_048;

/** The rules of the URL policy and the SSRF guard, each with the code and the text of its finding. */
export const urlRules = {
  well_formed: { code: 'url_invalid', en: 'The URL is not well-formed Unicode.' },
  length: { code: 'url_invalid', en: `The URL has more than ${maximumUrlLength} characters.` },
  characters: { code: 'url_invalid', en: 'The URL must not contain control characters, spaces or backslashes.' },
  absolute: { code: 'url_invalid', en: 'This is not an absolute URL.' },
  https: { code: 'url_not_https', en: 'The URL must start with https:.' },
  userinfo: { code: 'url_invalid', en: 'The URL must not contain a user name or a password. Use autorizacao.' },
  fragment: { code: 'url_invalid', en: 'The URL must not have a fragment.' },
  port: { code: 'url_invalid', en: 'The port must be 443, or 1024 or higher.' },
  ipv6_literal: { code: 'url_not_public', en: 'IPv6 literals are not accepted. Register a DNS name.' },
  dns_name: { code: 'url_not_public', en: 'The host is not a valid DNS name.' },
  single_label: { code: 'url_not_public', en: 'The host is a single label and not a public DNS name.' },
  private_suffix: { code: 'url_not_public', en: 'Names under .{suffix} are not public.' },
  own_host: { code: 'url_not_public', en: 'The host belongs to this service.' },
  public_address: { code: 'url_not_public', en: 'The host resolves to {address}, which is not a public address.' },
  ipv4: { code: 'url_not_public', en: 'The host has no IPv4 address.' },
} as const satisfies Record<string, { readonly code: UrlFindingCode; readonly en: string }>;

export type UrlRule = keyof typeof urlRules;

/** A violation of a rule. `detail` is the English text of the rule with its `values`. */
export interface UrlFinding {
  readonly rule: UrlRule;
  readonly code: UrlFindingCode;
  readonly values: Values;
  readonly detail: string;
}

export function violation<Rule extends UrlRule>(
  rule: Rule,
  ...[values = {}]: ValuesParameter<(typeof urlRules)[Rule]['en']>
): UrlFinding {
  const { code, en } = urlRules[rule];
  return { rule, code, values, detail: fillIn(en, values) };
}

type UrlFindingCode = 'url_not_https' | 'url_not_public' | 'url_invalid';
