import { type Finding, type FindingTable, finding } from '../api/findings.ts';
import { maximumUrlLength, type UrlFinding, type UrlRule, urlRules } from '../platform/egress/url-rules.ts';

/** The rules of the URL policy as findings, with Portuguese translations of their texts. */
const urlFindings = {
  well_formed: { ...urlRules.well_formed, pt: 'A URL não é Unicode bem formado.' },
  length: { ...urlRules.length, pt: `A URL tem mais de ${maximumUrlLength} caracteres.` },
  characters: {
    ...urlRules.characters,
    pt: 'A URL não pode conter caracteres de controle, espaços nem barras invertidas.',
  },
  absolute: { ...urlRules.absolute, pt: 'Esta não é uma URL absoluta.' },
  https: { ...urlRules.https, pt: 'A URL deve começar com https:.' },
  userinfo: { ...urlRules.userinfo, pt: 'A URL não pode conter usuário nem senha: use autorizacao.' },
  fragment: { ...urlRules.fragment, pt: 'A URL não pode ter fragmento.' },
  port: { ...urlRules.port, pt: 'A porta deve ser 443 ou uma a partir de 1024.' },
  ipv6_literal: { ...urlRules.ipv6_literal, pt: 'Endereços IPv6 não são aceitos: cadastre um nome DNS.' },
  dns_name: { ...urlRules.dns_name, pt: 'O host não é um nome DNS válido.' },
  single_label: { ...urlRules.single_label, pt: 'O host não tem ponto: não é um nome DNS público.' },
  private_suffix: { ...urlRules.private_suffix, pt: 'Nomes terminados em .{suffix} não são públicos.' },
  own_host: { ...urlRules.own_host, pt: 'O host é um dos hosts deste próprio serviço.' },
  public_address: { ...urlRules.public_address, pt: 'O host leva a {address}, que não é um endereço público.' },
  ipv4: { ...urlRules.ipv4, pt: 'O host não tem endereço IPv4.' },
} as const satisfies FindingTable & Record<UrlRule, unknown>;

/** The findings on the fields of a registration. */
export const webhookFindings = {
  autorizacao: {
    code: 'invalid_value',
    en: 'Must be 1 to 2048 visible ASCII characters, with spaces only between them.',
    pt: 'O valor deve ter de 1 a 2048 caracteres ASCII visíveis, com espaços somente entre eles.',
  },
  header_name: {
    code: 'invalid_value',
    en: 'Send only the value of the header, without Authorization: before it.',
    pt: 'Envie somente o valor do cabeçalho, sem Authorization: antes dele.',
  },
  ...urlFindings,
  not_found: {
    code: 'url_not_public',
    en: 'The host name does not exist in DNS.',
    pt: 'O host não pode ser resolvido: esse nome não existe no DNS.',
  },
  /** Reported if the DNS servers did not respond. The name may exist. */
  temporary: {
    code: 'url_not_public',
    en: 'Could not resolve the host. Check its DNS servers, then try again.',
    pt: 'Não foi possível resolver o host agora: verifique os servidores DNS dele e tente novamente.',
  },
} as const satisfies FindingTable;

/** Returns the finding on a `url` that violates a rule. */
export function urlFinding({ rule, values }: Pick<UrlFinding, 'rule' | 'values'>): Finding {
  return finding({ pointer: '/url' }, urlFindings[rule], values);
}
