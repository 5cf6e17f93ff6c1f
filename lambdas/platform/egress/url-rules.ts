import { fillIn, type Values, type ValuesParameter } from '../text-template.ts';

/** Maximum length of a webhook's URL in characters. */
export const maximumUrlLength = 2_048;

/** The rules of the URL policy and the SSRF guard, with the code and text of the finding for a URL that breaks a rule. */
export const urlRules = {
  well_formed: { code: 'url_invalid', en: 'The URL is not well-formed Unicode.' },
  length: { code: 'url_invalid', en: `The URL has more than ${maximumUrlLength} characters.` },
  characters: { code: 'url_invalid', en: 'The URL must not hold control characters, spaces or backslashes.' },
  absolute: { code: 'url_invalid', en: 'This is not an absolute URL.' },
  https: { code: 'url_not_https', en: 'The URL must begin with https:.' },
  userinfo: { code: 'url_invalid', en: 'The URL must not carry a user name or password: use autorizacao.' },
  fragment: { code: 'url_invalid', en: 'The URL must not have a fragment.' },
  port: { code: 'url_invalid', en: 'The port must be 443 or one from 1024 up.' },
  ipv6_literal: { code: 'url_not_public', en: 'IPv6 literals are not accepted: register a DNS name.' },
  dns_name: { code: 'url_not_public', en: 'The host is not a valid DNS name.' },
  single_label: { code: 'url_not_public', en: 'The host is a single label, not a public DNS name.' },
  private_suffix: { code: 'url_not_public', en: 'Names under .{suffix} are not public.' },
  own_host: { code: 'url_not_public', en: 'The host is one of this service itself.' },
  public_address: { code: 'url_not_public', en: 'The host leads to {address}, which is not a public address.' },
  ipv4: { code: 'url_not_public', en: 'The host has no IPv4 address.' },
} as const satisfies Record<string, { readonly code: UrlFindingCode; readonly en: string }>;

export type UrlRule = keyof typeof urlRules;

/** A rule that a URL breaks. `detail` is the rule's English text with its `values`. */
export interface UrlFinding {
  readonly rule: UrlRule;
  readonly code: UrlFindingCode;
  readonly values: Values;
  readonly detail: string;
}

/** Returns the finding of a URL that breaks a rule. */
export function breaks<Rule extends UrlRule>(
  rule: Rule,
  ...[values = {}]: ValuesParameter<(typeof urlRules)[Rule]['en']>
): UrlFinding {
  const { code, en } = urlRules[rule];
  return { rule, code, values, detail: fillIn(en, values) };
}

type UrlFindingCode = 'url_not_https' | 'url_not_public' | 'url_invalid';
